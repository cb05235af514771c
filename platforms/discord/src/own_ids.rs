//! The bot's own ids at Discord.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use nightdesk_port::Bot;
use serde_json::Value;

use crate::id::Id;

/// The bot itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnIds {
    /// The bot's account.
    pub(crate) user: Option<Id>,
    /// The bot's application. It has the same id, except for very old bots.
    pub(crate) application: Option<Id>,
}

impl OwnIds {
    /// Returns the ids of a bot. The user id is encoded before the first dot of its key.
    pub(crate) fn from_bot(bot: &Bot) -> Self {
        let user = bot.key.as_ref().and_then(|key| key.with(user_in));
        let named = bot.settings["application_id"].as_str().and_then(Id::parse);
        Self { user, application: named.or(user) }
    }

    /// Returns true if this is the bot's account.
    pub(crate) fn is_own_account(&self, user: Id) -> bool {
        self.user == Some(user)
    }
}

/// Returns the key that signs Discord's requests to this bot.
pub(crate) fn public_key(bot: &Bot) -> Option<[u8; 32]> {
    let Value::String(key) = &bot.settings["public_key"] else { return None };
    let mut bytes = [0; 32];
    hex::decode_to_slice(key, &mut bytes).ok()?;
    Some(bytes)
}

fn user_in(key: &str) -> Option<Id> {
    let first = key.strip_prefix("Bot ").unwrap_or(key).split('.').next()?.trim_end_matches('=');
    let decoded = URL_SAFE_NO_PAD.decode(first).or_else(|_| STANDARD_NO_PAD.decode(first)).ok()?;
    Id::parse(std::str::from_utf8(&decoded).ok()?)
}
