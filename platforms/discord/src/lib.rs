//! The Discord adapter: gateway, interactions and REST API.
//!
//! # Promise
//!
//! Nothing of an interaction is parsed before its signature is checked. Everything that Discord sends becomes an event,
//! is skipped because it carries no content, or is stored as unreadable; no input can stop the adapter. No key, token,
//! text or name is in any log or error. A mention in an agent's text notifies people only if that was granted.
//!
//! Begin with [`Discord`]. Messages arrive over the gateway (`listen`), interactions also by webhook (`receive`).
//! `words` converts Discord's data to events, `deliver` converts sends to calls, `api` makes the calls, and `eyes`
//! decides which person sees which channel.
//!
//! # Settings of a bot
//!
//! `public_key`: the key that signs its interactions; without it all are rejected. `application_id`: its application,
//! if that differs from the id in its token. `mentions`: the kinds of mentions that may notify people, of `users`,
//! `roles` and `everyone`; by default none. [`Discord::read_bot_setup`] returns the right values of the first two.
//!
//! Each bot has one socket, or several if Discord requires it.

mod receive;
mod listen;
mod events;
mod visibility;
mod deliver;
mod files;
mod connect;
mod api;
mod own_ids;
mod id;
mod capabilities;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_kit::socket::{SocketDialler, is_socket_url};
use nightdesk_port::{
    Bot, ContextSource, Files, Listen, Platform, PlatformCapabilities, SessionBudget,
    VisibilitySource,
};
use nightdesk_types::Clock;

pub use connect::DiscordBotSetup;
pub use nightdesk_kit::{ConnectError, OpenError};
pub use receive::{SIGNATURE_HEADER, TIMESTAMP_HEADER};

/// Entry points for fuzzers.
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz {
    pub use crate::listen::fuzz::{FRAME_BYTES_MAX, Overheard, overhear};
}

use api::Api;
use listen::{DriverContext, GatewaySockets};
use visibility::GuildCache;

/// The name of the adapter and of the platform.
pub const NAME: &str = "discord";

/// Default address of the REST API.
pub const API_URL: &str = "https://discord.com";

/// Default address of attachments.
pub const CDN_URL: &str = "https://cdn.discordapp.com";

/// Default address of the gateway.
pub const GATEWAY_URL: &str = "wss://gateway.discord.gg";

/// The Discord adapter.
pub struct Discord {
    api: Arc<Api>,
    driver_context: DriverContext,
    sockets: GatewaySockets,
    guilds: GuildCache,
    clock: Arc<dyn Clock>,
    reads: receive::ReadCounter,
}

impl fmt::Debug for Discord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discord").finish_non_exhaustive()
    }
}

/// Discord's addresses.
#[derive(Clone, Copy, Debug)]
pub struct DiscordUrls<'a> {
    /// The REST API: [`API_URL`] or a test server.
    pub api: &'a str,
    /// The gateway: [`GATEWAY_URL`] or a test server.
    pub gateway: &'a str,
    /// Attachments: [`CDN_URL`] or a test server.
    pub cdn: &'a str,
}

impl Default for DiscordUrls<'_> {
    fn default() -> Self {
        Self { api: API_URL, gateway: GATEWAY_URL, cdn: CDN_URL }
    }
}

impl Discord {
    /// Creates the adapter for these addresses. The budget limits the new sessions of each bot.
    pub fn open(
        at: DiscordUrls<'_>,
        clock: Arc<dyn Clock>,
        budget: Arc<dyn SessionBudget>,
    ) -> Result<Self, OpenError> {
        if !is_socket_url(at.gateway) {
            return Err(OpenError::Address { form: GATEWAY_URL });
        }
        let (dialler, main_url) = (SocketDialler::default(), at.gateway.to_owned());
        Ok(Self {
            api: Arc::new(Api::open(at.api, at.cdn, Arc::clone(&clock))?),
            driver_context: DriverContext { dialler, main_url, budget, turns: Arc::default() },
            sockets: GatewaySockets::default(),
            guilds: GuildCache::default(),
            clock,
            reads: receive::ReadCounter::default(),
        })
    }
}

#[cfg(feature = "fuzz")]
impl Discord {
    /// Returns the number of parsed interactions.
    #[doc(hidden)]
    pub fn reads(&self) -> u64 {
        self.reads.so_far()
    }
}

impl Platform for Discord {
    fn capabilities(&self, _bot: &Bot) -> PlatformCapabilities {
        capabilities::capabilities()
    }

    fn listens(&self) -> bool {
        true
    }

    fn listener(&self, _bot: &Bot) -> Option<&dyn Listen> {
        Some(self)
    }

    fn context_source(&self) -> ContextSource {
        ContextSource::Asked
    }

    fn files(&self, _bot: &Bot) -> Option<&dyn Files> {
        Some(self)
    }

    fn status_lasts(&self) -> Option<Duration> {
        Some(Duration::from_secs(10))
    }

    fn has_commands(&self) -> bool {
        true
    }

    fn visibility_source(&self) -> Option<&dyn VisibilitySource> {
        Some(self)
    }
}
