//! Interface for platforms that the desk reads events from.

use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::event::Draft;
use nightdesk_types::{StoreError, Timestamp};

use crate::{Bot, Capability, ReceiveError};

/// An event that a platform sent.
#[derive(Debug)]
pub struct PlatformEvent {
    /// The event in the desk's types. `None` if it carries no content.
    pub event: Result<Option<Draft>, ReceiveError>,
    /// The original bytes, so that the operator can inspect an unreadable event.
    pub body: Vec<u8>,
    /// The source's position after this event, in the source's own format.
    pub cursor: String,
    /// The capability to answer the event. Neither the event nor the body contains any part of it.
    pub capability: Option<Capability>,
    /// True if events before this one may be missing, because the platform could not resume at the cursor.
    pub is_after_gap: bool,
}

/// A range of the messages in a channel.
#[derive(Clone, Copy, Debug)]
pub enum HistoryRange<'a> {
    /// Messages after this time.
    Since(Timestamp),
    /// Messages after the event with this cursor.
    After(&'a str),
    /// The given number of messages directly before the message with this id.
    Before(&'a str, usize),
}

/// Failures to read events.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The platform sends the bot's events to another receiver.
    #[error("the platform sends the bot's events to another receiver")]
    Elsewhere,
    /// The request exceeded the platform's rate limit.
    #[error("rate limited by the platform")]
    RateLimited {
        /// Minimum delay before the next attempt.
        retry_after: Duration,
    },
    /// The platform no longer accepts the account's key.
    #[error("key rejected by the platform")]
    KeyRejected,
    /// The platform does not let the bot listen until the operator changes a setting.
    #[error("the platform does not let the bot listen: {reason}")]
    Barred {
        /// The setting that prevents it.
        reason: &'static str,
    },
    /// The platform could not be reached, or its response was not understood.
    #[error("platform unavailable")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

/// State of a platform's webhook deliveries, as the platform reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookStatus {
    /// Number of events that the platform has not delivered yet.
    pub waiting: u64,
    /// Time since the last failed delivery, if there was one.
    pub failed_ago: Option<Duration>,
}

/// Asks a platform if its webhook deliveries succeed.
#[async_trait]
pub trait WebhookProbe: Send + Sync {
    /// Returns the state of the deliveries. A platform without a webhook for the bot returns
    /// [`ListenError::Elsewhere`].
    async fn probe(&self, bot: &Bot) -> Result<WebhookStatus, ListenError>;
}

/// Reads events from a platform.
#[async_trait]
pub trait Listen: Send + Sync {
    /// Returns the name of the source. A bot may have several.
    fn source(&self) -> &'static str;

    /// Returns the events after the cursor, in the platform's order. It waits a while for the first event and returns
    /// an empty list if none arrives. The future may be dropped at any time.
    ///
    /// A request with a cursor confirms that all earlier events are stored, so the platform deletes them.
    async fn listen(
        &self,
        bot: &Bot,
        cursor: Option<&str>,
    ) -> Result<Vec<PlatformEvent>, ListenError>;

    /// Returns a page of the messages in one channel, oldest first, to fill a gap or to add context to a message. Each
    /// cursor is a position in that channel. The list is empty if the platform does not repeat messages.
    async fn backfill(
        &self,
        _bot: &Bot,
        _channel: &str,
        _part: HistoryRange<'_>,
    ) -> Result<Vec<PlatformEvent>, ListenError> {
        Ok(Vec::new())
    }

    /// Disconnects so that the next owner can resume at once.
    async fn leave(&self, _bot: &Bot) {}
}

/// Limit of new sessions per bot. Some platforms count sessions and revoke the key of a bot that begins too many, so
/// the count must survive the process.
#[async_trait]
pub trait SessionBudget: Send + Sync {
    /// Takes one session from the budget. Returns true if one was left.
    async fn spend(&self, bot: &Bot) -> Result<bool, StoreError>;
}

/// A budget without a limit.
#[derive(Clone, Copy, Debug)]
pub struct UnlimitedBudget;

#[async_trait]
impl SessionBudget for UnlimitedBudget {
    async fn spend(&self, _bot: &Bot) -> Result<bool, StoreError> {
        Ok(true)
    }
}
