//! Me: the bot itself, as Discord knows it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use nightdesk_port::Bot;
use serde_json::Value;

use crate::words::Id;

/// The bot itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Me {
    /// Its account.
    pub(crate) user: Option<Id>,
    /// The application it belongs to. For all but very old bots it has the same number.
    pub(crate) application: Option<Id>,
}

impl Me {
    /// A bot as Discord knows it. Its id stands before the first dot of its key.
    pub(crate) fn of(bot: &Bot) -> Self {
        let user = bot.key.as_ref().and_then(|key| key.with(user_in));
        let named = bot.settings["application_id"].as_str().and_then(Id::read);
        Self { user, application: named.or(user) }
    }

    /// Whether that is its account.
    pub(crate) fn is(&self, user: Id) -> bool {
        self.user == Some(user)
    }
}

/// The key that Discord signs its requests to this bot with.
pub(crate) fn public_key(bot: &Bot) -> Option<[u8; 32]> {
    let Value::String(key) = &bot.settings["public_key"] else { return None };
    let mut bytes = [0; 32];
    hex::decode_to_slice(key, &mut bytes).ok()?;
    Some(bytes)
}

fn user_in(key: &str) -> Option<Id> {
    let first = key.strip_prefix("Bot ").unwrap_or(key).split('.').next()?.trim_end_matches('=');
    let decoded = URL_SAFE_NO_PAD.decode(first).or_else(|_| STANDARD_NO_PAD.decode(first)).ok()?;
    Id::read(std::str::from_utf8(&decoded).ok()?)
}
