//! Eyes: who can see which channel, from what Discord tells of guilds, roles, channels and members.
//!
//! # Promise
//!
//! A person is said to see a channel only if all that decides about it was told and says so. What could not be read
//! is forgotten with its guild, and what is not known is no yes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use nightdesk_port::{Bot, Eyes};
use nightdesk_types::event::Source;
use nightdesk_types::{BotId, Sight};

use crate::Discord;
use crate::words::{Id, Room, Rooms};

mod guild;
mod learn;
mod told;

use guild::Guild;

/// Guilds of one bot that are remembered. Others are asked about.
const GUILDS_MAX: usize = 10_000;

/// Channels that were asked for and are remembered. When there are more, they are asked for again.
const ROOMS_MAX: usize = 2_000;

/// What is known of the guilds of all bots.
#[derive(Debug, Default)]
pub(crate) struct Guilds(Mutex<HashMap<BotId, Known>>);

/// What is known of the guilds of one bot.
#[derive(Debug, Default)]
struct Known {
    guilds: HashMap<Id, Guild>,
    /// Channels that were asked for, of guilds that are not known as a whole.
    rooms: HashMap<Id, Room>,
    /// How often something was told that decides about sight: what was asked for meanwhile may be older.
    told: u64,
}

impl Guilds {
    fn known(&self) -> MutexGuard<'_, HashMap<BotId, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a channel.
    pub(crate) fn room(&self, bot: BotId, channel: Id) -> Option<Room> {
        let known = self.known();
        let known = known.get(&bot)?;
        let told = known.guilds.values().find_map(|guild| guild.room(channel));
        told.or_else(|| known.rooms.get(&channel)).cloned()
    }

    /// Remembers a channel that was asked for.
    fn put_room(&self, bot: BotId, room: Room) {
        let mut known = self.known();
        let rooms = &mut known.entry(bot).or_default().rooms;
        if rooms.len() >= ROOMS_MAX {
            rooms.clear();
        }
        rooms.insert(room.id, room);
    }

    /// Takes in what a bot was told.
    pub(crate) fn take(&self, bot: BotId, kind: &str, told: &[u8]) {
        told::take(self.known().entry(bot).or_default(), kind, told);
    }

    fn sight(&self, bot: BotId, source: &Source, person: &str) -> Sight {
        let is_author = source.user_id.as_deref() == Some(person);
        let Some(scope) = &source.scope_id else {
            // Nobody else is there.
            return if is_author { Sight::Sees } else { Sight::Blind };
        };
        let known = self.known();
        let ids = (Id::read(scope), Id::read(&source.chat_id), Id::read(person));
        let (Some(guild), Some(channel), Some(person)) = ids else { return Sight::Unknown };
        let guild = known.get(&bot).and_then(|known| Some((guild, known.guilds.get(&guild)?)));
        guild.map_or(Sight::Unknown, |(id, guild)| guild.sight(id, channel, (person, is_author)))
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
