//! Telegram, by its Bot API.
//!
//! # Promise
//!
//! Nothing of a webhook is read before it showed its secret. Whatever Telegram sends becomes an
//! event, is left out because nobody said anything, or is kept as unreadable: nothing of it can
//! stop us. No key, text or name is in any log or error.
//!
//! Begin with [`Telegram`]. `words` says what an update is in our words, `deliver` what a send is in
//! Telegram's, and `api` makes the calls.
//!
//! The shapes of the API are our own, and few: a library that knows all of them refuses an update in
//! which one field is new, and we need a dozen calls.

mod receive;
mod words;
mod deliver;
mod markdown;
mod api;
mod capabilities;

#[cfg(test)]
mod tests;

use nightdesk_port::{Bot, Capabilities, Platform};

pub use api::OpenError;
pub use receive::{SECRET_HEADER, webhook_secret};

use api::Api;

/// The adapter's name, and the platform's.
pub const NAME: &str = "telegram";

/// Where Telegram is.
pub const API_URL: &str = "https://api.telegram.org";

/// The adapter of Telegram.
#[derive(Debug)]
pub struct Telegram {
    api: Api,
}

impl Telegram {
    /// Telegram at this address: [`API_URL`], or a server of the operator's own.
    pub fn open(api_url: &str) -> Result<Self, OpenError> {
        Ok(Self { api: Api::open(api_url)? })
    }
}

impl Platform for Telegram {
    fn capabilities(&self, _bot: &Bot) -> Capabilities {
        capabilities::capabilities()
    }
}
