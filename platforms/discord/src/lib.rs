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
//!
//! # Settings of a bot
//!
//! `public_key`: what its interactions are signed with; without it none is taken. `application_id`: its
//! application, where that is not the number in its token. `mentions`: whom agents may call by
//! naming them, of `users`, `roles` and `everyone`; nobody, if it is not there. What is right for the first two,
//! [`Discord::standing`] says.
//!
//! One socket is held for each bot; more, if Discord wants to tell it over several.

mod receive;
mod listen;
mod words;
mod eyes;
mod deliver;
mod files;
mod connect;
mod api;
mod me;
mod capabilities;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_port::{Bot, Budget, Capabilities, Context, Eyes, Files, Listen, Platform};
use nightdesk_types::Clock;

pub use api::OpenError;
pub use connect::{ConnectError, Standing};
pub use receive::{SIGNATURE_HEADER, TIMESTAMP_HEADER};

/// What fuzzers call.
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz {
    pub use crate::listen::fuzz::{FRAME_BYTES_MAX, Overheard, overhear};
}

use api::Api;
use eyes::Guilds;
use listen::{Dialler, Ears, Hands};

/// The adapter's name, and the platform's.
pub const NAME: &str = "discord";

/// Where Discord is.
pub const API_URL: &str = "https://discord.com";

/// Where the files lie that people attach.
pub const CDN_URL: &str = "https://cdn.discordapp.com";

/// Where it tells what is said.
pub const GATEWAY_URL: &str = "wss://gateway.discord.gg";

/// The adapter of Discord.
pub struct Discord {
    api: Arc<Api>,
    hands: Hands,
    ears: Ears,
    guilds: Guilds,
    clock: Arc<dyn Clock>,
    reads: receive::Reads,
}

impl fmt::Debug for Discord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discord").finish_non_exhaustive()
    }
}

/// Where Discord is.
#[derive(Clone, Copy, Debug)]
pub struct Addresses<'a> {
    /// What is asked of it: [`API_URL`], or what stands in for it.
    pub api: &'a str,
    /// What it tells: [`GATEWAY_URL`], or what stands in for it.
    pub gateway: &'a str,
    /// What people attach: [`CDN_URL`], or what stands in for it.
    pub cdn: &'a str,
}

impl Default for Addresses<'_> {
    fn default() -> Self {
        Self { api: API_URL, gateway: GATEWAY_URL, cdn: CDN_URL }
    }
}

impl Discord {
    /// Discord at these addresses, where a bot begins no more sessions than the budget has.
    pub fn open(
        at: Addresses<'_>,
        clock: Arc<dyn Clock>,
        budget: Arc<dyn Budget>,
    ) -> Result<Self, OpenError> {
        let dialler = Arc::new(Dialler::new(at.gateway).ok_or(OpenError::Gateway)?);
        Ok(Self {
            api: Arc::new(Api::open(at.api, at.cdn, Arc::clone(&clock))?),
            hands: Hands { dialler, budget, turns: Arc::default() },
            ears: Ears::default(),
            guilds: Guilds::default(),
            clock,
            reads: receive::Reads::default(),
        })
    }
}

#[cfg(feature = "fuzz")]
impl Discord {
    /// How many interactions were read.
    #[doc(hidden)]
    pub fn reads(&self) -> u64 {
        self.reads.so_far()
    }
}

impl Platform for Discord {
    fn capabilities(&self, _bot: &Bot) -> Capabilities {
        capabilities::capabilities()
    }

    fn listens(&self) -> bool {
        true
    }

    fn ear(&self, _bot: &Bot) -> Option<&dyn Listen> {
        Some(self)
    }

    fn context(&self) -> Context {
        Context::Asked
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

    fn eyes(&self) -> Option<&dyn Eyes> {
        Some(self)
    }
}
