//! Telegram, by its Bot API.
//!
//! # Promise
//!
//! Nothing of a webhook is read before it showed its secret. Whatever Telegram sends becomes an
//! event, is left out because nobody said anything, or is kept as unreadable: nothing of it can
//! stop us. No key, text or name is in any log or error.
//!
//! Begin with [`Telegram`]. Updates come by webhook (`receive`), or are asked for (`listen`). `words` says what an update is in our words, `deliver` what a send is in
//! Telegram's, and `api` makes the calls.
//!
//! The shapes of the API are our own, and few: a library that knows all of them refuses an update in
//! which one field is new, and we need a dozen calls.

mod receive;
mod listen;
mod words;
mod deliver;
mod files;
mod markdown;
mod connect;
mod api;
mod capabilities;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_port::{Bot, Capabilities, Context, Files, Listen, Platform, Probe};
use nightdesk_types::Clock;

pub use api::OpenError;
pub use connect::{ConnectError, Standing};
pub use receive::{SECRET_HEADER, webhook_secret};

use api::Api;

/// The adapter's name, and the platform's.
pub const NAME: &str = "telegram";

/// Where Telegram is.
pub const API_URL: &str = "https://api.telegram.org";

/// The adapter of Telegram.
pub struct Telegram {
    api: Api,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Telegram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telegram").field("api", &self.api).finish_non_exhaustive()
    }
}

impl Telegram {
    /// Telegram at this address: [`API_URL`], or a server of the operator's own.
    pub fn open(api_url: &str, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        Ok(Self { api: Api::open(api_url)?, clock })
    }
}

impl Platform for Telegram {
    fn status_lasts(&self) -> Option<Duration> {
        Some(Duration::from_secs(5))
    }

    fn capabilities(&self, _bot: &Bot) -> Capabilities {
        capabilities::capabilities()
    }

    fn listens(&self) -> bool {
        true
    }

    fn ear(&self, bot: &Bot) -> Option<&dyn Listen> {
        (!is_posted_to(bot)).then_some(self)
    }

    fn probe(&self, bot: &Bot) -> Option<&dyn Probe> {
        is_posted_to(bot).then_some(self)
    }

    fn context(&self) -> Context {
        Context::Overheard
    }

    fn files(&self, _bot: &Bot) -> Option<&dyn Files> {
        Some(self)
    }
}

/// Whether a bot's updates come by webhook.
pub fn is_posted_to(bot: &Bot) -> bool {
    bot.settings["updates"] == "webhook"
}
