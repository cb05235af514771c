//! Decides which person can see which channel, from Discord's events about guilds, roles, channels and members.
//!
//! # Promise
//!
//! A person counts as seeing a channel only if all relevant data is known and permits it. If an event is unreadable,
//! its guild is forgotten. Unknown data never permits anything.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use nightdesk_port::{Bot, Eyes};
use nightdesk_types::event::Source;
use nightdesk_types::{BotId, Sight};

use crate::Discord;
use crate::id::Id;
use crate::words::{Room, Rooms};

mod guild;
mod learn;
mod told;

use guild::{Guild, Viewer};

/// Maximum cached guilds of one bot. Data of further guilds is requested.
const GUILDS_MAX: usize = 10_000;

/// Maximum cached channels that were requested. When the cache is full, it is cleared.
const ROOMS_MAX: usize = 2_000;

/// Cached guilds of all bots.
#[derive(Debug, Default)]
pub(crate) struct Guilds(Mutex<HashMap<BotId, Known>>);

/// Cached guilds of one bot.
#[derive(Debug, Default)]
struct Known {
    guilds: HashMap<Id, Guild>,
    /// Requested channels of guilds that are not completely known.
    rooms: HashMap<Id, Room>,
    /// Number of received events that affect visibility. A response to an earlier request may be older than they are.
    told: u64,
}

impl Guilds {
    fn known(&self) -> MutexGuard<'_, HashMap<BotId, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a cached channel.
    pub(crate) fn room(&self, bot: BotId, channel: Id) -> Option<Room> {
        let known = self.known();
        let known = known.get(&bot)?;
        let told = known.guilds.values().find_map(|guild| guild.room(channel));
        told.or_else(|| known.rooms.get(&channel)).cloned()
    }

    /// Caches a requested channel.
    fn put_room(&self, bot: BotId, room: Room) {
        let mut known = self.known();
        let rooms = &mut known.entry(bot).or_default().rooms;
        if rooms.len() >= ROOMS_MAX {
            rooms.clear();
        }
        rooms.insert(room.id, room);
    }

    /// Applies an event that a bot received.
    pub(crate) fn take(&self, bot: BotId, kind: &str, told: &[u8]) {
        told::take(self.known().entry(bot).or_default(), kind, told);
    }

    fn sight(&self, bot: BotId, source: &Source, person: &str) -> Sight {
        let is_author = source.user_id.as_deref() == Some(person);
        let Some(scope) = &source.scope_id else {
            // A direct message has no other reader.
            return if is_author { Sight::Sees } else { Sight::Blind };
        };
        let known = self.known();
        let ids = (Id::read(scope), Id::read(&source.chat_id), Id::read(person));
        let (Some(guild), Some(channel), Some(person)) = ids else { return Sight::Unknown };
        let guild = known.get(&bot).and_then(|known| Some((guild, known.guilds.get(&guild)?)));
        let viewer = Viewer { person, is_author };
        guild.map_or(Sight::Unknown, |(id, guild)| guild.sight(id, channel, viewer))
    }
}

/// The channels that one bot knows.
pub(crate) struct RoomsOf<'g>(pub(crate) &'g Guilds, pub(crate) BotId);

impl Rooms for RoomsOf<'_> {
    fn room(&self, id: Id) -> Option<Room> {
        self.0.room(self.1, id)
    }
}

#[async_trait]
impl Eyes for Discord {
    fn sight(&self, bot: &Bot, source: &Source, person: &str) -> Sight {
        self.guilds.sight(bot.id, source, person)
    }

    async fn learn(&self, bot: &Bot, source: &Source, person: &str) {
        if self.guilds.sight(bot.id, source, person) == Sight::Unknown {
            self.look_up(bot, source, person).await;
        }
    }
}

#[cfg(test)]
mod tests;
