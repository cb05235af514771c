//! Discord, by its gateway, its interactions and its REST API.
//!
//! # Promise
//!
//! Nothing of an interaction is read before its signature checked out. Whatever Discord sends becomes an
//! event, is left out because nobody said anything, or is kept as unreadable: nothing of it can stop us. No
//! key, token, text or name is in any log or error. What an agent says names nobody so that it rings.
//!
//! Begin with [`Discord`]. Messages come over the gateway (`listen`), interactions also by webhook
//! (`receive`). `words` says what is told in our words, `deliver` what a send is in Discord's, `api` makes the
//! calls, and `eyes` knows who can see which channel.

mod receive;
mod words;
mod eyes;
mod deliver;
mod api;
mod me;
mod capabilities;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use nightdesk_port::{Bot, Capabilities, Eyes, Platform};
use nightdesk_types::Clock;

pub use api::OpenError;
pub use receive::{SIGNATURE_HEADER, TIMESTAMP_HEADER};

use api::Api;
use eyes::Guilds;

/// The adapter's name, and the platform's.
pub const NAME: &str = "discord";

/// Where Discord is.
pub const API_URL: &str = "https://discord.com";

/// Where it tells what is said.
pub const GATEWAY_URL: &str = "wss://gateway.discord.gg";

/// The adapter of Discord.
pub struct Discord {
    api: Api,
    guilds: Guilds,
    clock: Arc<dyn Clock>,
    reads: receive::Reads,
}

impl fmt::Debug for Discord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discord").finish_non_exhaustive()
    }
}

impl Discord {
    /// Discord at this address: [`API_URL`], or one that stands in for it.
    pub fn open(api_url: &str, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let api = Api::open(api_url, Arc::clone(&clock))?;
        Ok(Self { api, guilds: Guilds::default(), clock, reads: receive::Reads::default() })
    }
}

impl Platform for Discord {
    fn capabilities(&self, _bot: &Bot) -> Capabilities {
        capabilities::capabilities()
    }

    fn eyes(&self) -> Option<&dyn Eyes> {
        Some(self)
    }
}
