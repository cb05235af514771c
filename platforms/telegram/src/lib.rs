//! The Telegram adapter: the Bot API.
//!
//! # Promise
//!
//! Nothing of a webhook request is parsed before its secret is checked. Everything that Telegram sends becomes an
//! event, is skipped because it carries no content, or is stored as unreadable; no input can stop the adapter. No key,
//! text or name is in any log or error.
//!
//! Begin with [`Telegram`]. Updates arrive by webhook (`receive`) or are requested (`listen`). `words` converts updates
//! to events, `deliver` converts sends to calls, and `api` makes the calls.
//!
//! The adapter defines its own few types, because a library that knows all fields rejects an update in which one field
//! is new, and the adapter needs only a dozen calls.

mod receive;
mod listen;
mod events;
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

use nightdesk_port::{
    Bot, ContextSource, Files, Listen, Platform, PlatformCapabilities, WebhookProbe,
};
use nightdesk_types::Clock;

pub use connect::TelegramBotSetup;
pub use nightdesk_kit::{ConnectError, OpenError};
pub use receive::{SECRET_HEADER, webhook_secret};

use api::Api;

/// The name of the adapter and of the platform.
pub const NAME: &str = "telegram";

/// Default address of the Bot API.
pub const API_URL: &str = "https://api.telegram.org";

/// The Telegram adapter.
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
    /// Creates the adapter for this address: [`API_URL`] or the operator's own Bot API server.
    pub fn open(api_url: &str, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        Ok(Self { api: Api::open(api_url)?, clock })
    }
}

impl Platform for Telegram {
    fn status_lasts(&self) -> Option<Duration> {
        Some(Duration::from_secs(5))
    }

    fn capabilities(&self, _bot: &Bot) -> PlatformCapabilities {
        capabilities::capabilities()
    }

    fn listens(&self) -> bool {
        true
    }

    fn listener(&self, bot: &Bot) -> Option<&dyn Listen> {
        (!is_posted_to(bot)).then_some(self)
    }

    fn probe(&self, bot: &Bot) -> Option<&dyn WebhookProbe> {
        is_posted_to(bot).then_some(self)
    }

    fn context_source(&self) -> ContextSource {
        ContextSource::Overheard
    }

    fn files(&self, _bot: &Bot) -> Option<&dyn Files> {
        Some(self)
    }
}

/// Returns true if a bot's updates arrive by webhook.
pub fn is_posted_to(bot: &Bot) -> bool {
    bot.settings["updates"] == "webhook"
}
