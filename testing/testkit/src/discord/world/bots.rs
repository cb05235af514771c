//! Bots, which are applications too.

use super::{World, things};
use crate::discord::sign::SigningKey;

/// A bot, which is an application too.
#[derive(Debug)]
pub(in crate::discord) struct Bot {
    pub(in crate::discord) id: u64,
    pub(in crate::discord) starts: SessionStarts,
    /// Over how many sockets it must be told at least.
    pub(in crate::discord) shards: u64,
    pub(in crate::discord) key: SigningKey,
    /// Where interactions are posted; over the gateway if there is no such place.
    pub(in crate::discord) interactions_url: Option<String>,
    /// Which privileged intents it may not ask for.
    pub(in crate::discord) disallowed_intents: u64,
}

/// How many sessions a bot may still begin today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::discord) struct SessionStarts {
    pub(in crate::discord) remaining: u64,
    pub(in crate::discord) max_concurrency: u64,
}

/// How many sessions a bot may begin in a day.
pub(in crate::discord) const SESSION_STARTS_MAX: u64 = 1_000;

impl World {
    pub(in crate::discord) fn add_bot(&mut self, token: &str, id: u64, name: &str) {
        let starts = SessionStarts { remaining: SESSION_STARTS_MAX, max_concurrency: 1 };
        let key = SigningKey::of(id);
        let (interactions_url, disallowed_intents) = (None, 0);
        let bot = Bot { id, starts, shards: 1, key, interactions_url, disallowed_intents };
        self.bots.insert(token.to_owned(), bot);
        self.users.insert(id, things::user(id, name, true));
    }

    pub(in crate::discord) fn is_bot(&self, id: u64) -> bool {
        self.bots.values().any(|bot| bot.id == id)
    }
}
