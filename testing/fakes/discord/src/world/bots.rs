//! Stores bots, which are also applications.

use super::{World, things};
use crate::sign::SigningKey;

/// A bot, which is also an application.
#[derive(Debug)]
pub(crate) struct Bot {
    pub(crate) id: u64,
    pub(crate) starts: SessionStarts,
    /// Minimum number of shards.
    pub(crate) shards: u64,
    pub(crate) key: SigningKey,
    /// URL for interactions. Without it they go over the gateway.
    pub(crate) interactions_url: Option<String>,
    /// Privileged intents that it may not request.
    pub(crate) disallowed_intents: u64,
}

/// Sessions that a bot may still begin today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionStarts {
    pub(crate) remaining: u64,
    pub(crate) max_concurrency: u64,
}

/// Number of sessions that a bot may begin in a day.
pub(crate) const SESSION_STARTS_MAX: u64 = 1_000;

impl World {
    pub(crate) fn add_bot(&mut self, token: &str, id: u64, name: &str) {
        let starts = SessionStarts { remaining: SESSION_STARTS_MAX, max_concurrency: 1 };
        let key = SigningKey::of(id);
        let (interactions_url, disallowed_intents) = (None, 0);
        let bot = Bot { id, starts, shards: 1, key, interactions_url, disallowed_intents };
        self.bots.insert(token.to_owned(), bot);
        self.users.insert(id, things::user(id, name, true));
    }

    pub(crate) fn is_bot(&self, id: u64) -> bool {
        self.bots.values().any(|bot| bot.id == id)
    }
}
