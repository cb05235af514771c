//! Stores bots, which are also applications.

use super::{World, things};
use crate::discord::sign::SigningKey;

/// A bot, which is also an application.
#[derive(Debug)]
pub(in crate::discord) struct Bot {
    pub(in crate::discord) id: u64,
    pub(in crate::discord) starts: SessionStarts,
    /// Minimum number of shards.
    pub(in crate::discord) shards: u64,
    pub(in crate::discord) key: SigningKey,
    /// URL for interactions. Without it they go over the gateway.
    pub(in crate::discord) interactions_url: Option<String>,
    /// Privileged intents that it may not request.
    pub(in crate::discord) disallowed_intents: u64,
}

/// Sessions that a bot may still begin today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::discord) struct SessionStarts {
    pub(in crate::discord) remaining: u64,
    pub(in crate::discord) max_concurrency: u64,
}

/// Number of sessions that a bot may begin in a day.
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
