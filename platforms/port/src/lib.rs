//! The interface of a platform.
//!
//! An adapter receives requests ([`Receive`]) or reads events ([`Listen`]), makes calls ([`Deliver`]) and reports its
//! platform's features ([`PlatformCapabilities`]). It decides nothing: the gate decides which agents see an event, and the lane
//! decides when a call is made.

use std::time::Duration;

mod bot;
mod receive;
mod listen;
mod deliver;
mod capabilities;
mod capability;
mod command;
mod visibility;
mod files;

pub use bot::Bot;
pub use capabilities::{CallRate, LengthUnit, PlatformCapabilities};
pub use capability::Capability;
pub use command::{CommandChange, PlatformCommand};
pub use deliver::{CAPABILITY_GONE, ChatInfo, Deliver, DeliverError, Receipt};
pub use files::{FetchError, File, FileBytes, FileContent, FileSource, Files};
pub use listen::{
    HistoryRange, Listen, ListenError, PlatformEvent, SessionBudget, UnlimitedBudget, WebhookProbe,
    WebhookStatus,
};
pub use receive::{
    Receive, ReceiveError, ReceiveOutcome, RequestContent, SignedRequest, WebhookAnswer,
    WebhookMethod,
};
pub use visibility::VisibilitySource;

/// A platform as the desk uses it.
pub trait Platform: Receive + Deliver {
    /// Returns the features of this bot on its platform.
    fn capabilities(&self, bot: &Bot) -> PlatformCapabilities;

    /// Returns the entrance for people's messages. The bot is not available by any other entrance.
    fn entrance(&self) -> Entrance {
        Entrance::Hook
    }

    /// Returns true if the desk listens for, or probes, any bot of this platform.
    fn listens(&self) -> bool {
        false
    }

    /// Returns the source of this bot's events, or `None` if the platform posts them to a webhook.
    fn listener(&self, _bot: &Bot) -> Option<&dyn Listen> {
        None
    }

    /// Returns the probe for this bot's webhook deliveries.
    fn probe(&self, _bot: &Bot) -> Option<&dyn WebhookProbe> {
        None
    }

    /// Returns the fetcher of this bot's attachments, or `None` if their addresses work without a key.
    fn files(&self, _bot: &Bot) -> Option<&dyn Files> {
        None
    }

    /// Returns the source of the messages around a message.
    fn context_source(&self) -> ContextSource {
        ContextSource::Untold
    }

    /// Returns the time that a typing indicator without text lasts. `None` if the platform shows a status text until
    /// the next message.
    fn status_lasts(&self) -> Option<Duration> {
        None
    }

    /// Returns true if agents can offer commands.
    fn has_commands(&self) -> bool {
        false
    }

    /// Returns the visibility of channels, or `None` if every member of a chat sees all of it.
    fn visibility_source(&self) -> Option<&dyn VisibilitySource> {
        None
    }
}

/// The way that people's messages enter the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrance {
    /// The platform posts them to the bot's webhook.
    Hook,
    /// Visitors write them on the desk's own page.
    Page,
}

/// The source of the messages around a message, for an agent that did not receive them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextSource {
    /// None: agents receive every message, or the platform sends no others.
    Untold,
    /// The desk requests them with [`Listen::backfill`].
    Asked,
    /// The desk received them and remembers them for a while.
    Overheard,
}
