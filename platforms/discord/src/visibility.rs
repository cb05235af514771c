//! Decides which person can see which channel, from Discord's events about guilds, roles, channels and members.
//!
//! # Promise
//!
//! A person counts as seeing a channel only if all relevant data is known and permits it. If an event is unreadable,
//! its guild is forgotten. Unknown data never permits anything.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use nightdesk_port::{Bot, VisibilitySource};
use nightdesk_types::event::Source;
use nightdesk_types::{BotId, Visibility};

use crate::Discord;
use crate::events::{ChannelLookup, DiscordChannel};
use crate::id::Id;

mod guild;
mod lookup;
mod guild_events;

use guild::{Guild, Viewer};

/// Maximum cached guilds of one bot. Data of further guilds is requested.
const GUILDS_MAX: usize = 10_000;

/// Maximum cached channels that were requested. When the cache is full, it is cleared.
const ROOMS_MAX: usize = 2_000;

/// Cached guilds of all bots.
#[derive(Debug, Default)]
pub(crate) struct GuildCache(Mutex<HashMap<BotId, BotGuilds>>);

/// Cached guilds of one bot.
#[derive(Debug, Default)]
struct BotGuilds {
    guilds: HashMap<Id, Guild>,
    /// Requested channels of guilds that are not completely known.
    rooms: HashMap<Id, DiscordChannel>,
    /// Number of received events that affect visibility. A response to an earlier request may be older than they are.
    told: u64,
}

impl GuildCache {
    fn lock_bots(&self) -> MutexGuard<'_, HashMap<BotId, BotGuilds>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a cached channel.
    pub(crate) fn find_channel(&self, bot: BotId, channel: Id) -> Option<DiscordChannel> {
        let known = self.lock_bots();
        let known = known.get(&bot)?;
        let told = known.guilds.values().find_map(|guild| guild.find_channel(channel));
        told.or_else(|| known.rooms.get(&channel)).cloned()
    }

    /// Caches a requested channel.
    fn put_channel(&self, bot: BotId, room: DiscordChannel) {
        let mut known = self.lock_bots();
        let rooms = &mut known.entry(bot).or_default().rooms;
        if rooms.len() >= ROOMS_MAX {
            rooms.clear();
        }
        rooms.insert(room.id, room);
    }

    /// Applies an event that a bot received.
    pub(crate) fn apply_event(&self, bot: BotId, kind: &str, told: &[u8]) {
        guild_events::apply_event(self.lock_bots().entry(bot).or_default(), kind, told);
    }

    fn visibility_of(&self, bot: BotId, source: &Source, person: &str) -> Visibility {
        let is_author = source.user_id.as_deref() == Some(person);
        let Some(scope) = &source.scope_id else {
            // A direct message has no other reader.
            return if is_author { Visibility::Sees } else { Visibility::Blind };
        };
        let known = self.lock_bots();
        let ids = (Id::parse(scope), Id::parse(&source.chat_id), Id::parse(person));
        let (Some(guild), Some(channel), Some(person)) = ids else { return Visibility::Unknown };
        let guild = known.get(&bot).and_then(|known| Some((guild, known.guilds.get(&guild)?)));
        let viewer = Viewer { person, is_author };
        guild.map_or(Visibility::Unknown, |(id, guild)| guild.visibility_of(id, channel, viewer))
    }
}

/// The channels that one bot knows.
pub(crate) struct BotChannels<'g>(pub(crate) &'g GuildCache, pub(crate) BotId);

impl ChannelLookup for BotChannels<'_> {
    fn find_channel(&self, id: Id) -> Option<DiscordChannel> {
        self.0.find_channel(self.1, id)
    }
}

#[async_trait]
impl VisibilitySource for Discord {
    fn visibility_of(&self, bot: &Bot, source: &Source, person: &str) -> Visibility {
        self.guilds.visibility_of(bot.id, source, person)
    }

    async fn fetch_missing(&self, bot: &Bot, source: &Source, person: &str) {
        if self.guilds.visibility_of(bot.id, source, person) == Visibility::Unknown {
            self.look_up_visibility(bot, source, person).await;
        }
    }
}

#[cfg(test)]
mod tests;
