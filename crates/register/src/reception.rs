//! Records if a bot's messages arrive from its platform, as its listener observed.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{BotId, StoreError, TenantScope, Timestamp};

/// The state of a bot's reception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotReception {
    /// The bot.
    pub bot: BotId,
    /// The time at which its platform last answered without a fault.
    pub heard_at: Option<Timestamp>,
    /// The time of the last message to the bot.
    pub said_at: Option<Timestamp>,
    /// The current outage, if there is one.
    pub outage: Option<Outage>,
}

/// An outage: the bot receives nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Its beginning.
    pub since: Timestamp,
    /// The reason, as a text.
    pub why: String,
    /// True if the outage lasted long enough that the operator was notified.
    pub is_told: bool,
}

/// Messages to a bot that may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// The beginning of the gap. `None`: the bot never received anything before.
    pub since: Option<Timestamp>,
    /// The affected chats, the most recently active first.
    pub chats: Vec<String>,
}

/// Stores the reception state of bots and notifies their operators.
#[async_trait]
pub trait ReceptionStore: Send + Sync {
    /// Records that a bot's platform answered without a fault. If the previous such answer is older than the platform
    /// keeps undelivered messages, the operator is notified with this text about the possible loss.
    async fn record_reception(
        &self,
        scope: TenantScope,
        bot: BotId,
        kept: Duration,
        lost: &str,
    ) -> Result<(), StoreError>;

    /// Records that reception failed, and the reason. Returns true if the outage has now lasted long enough that the
    /// operator was notified: once per outage.
    async fn record_outage(
        &self,
        scope: TenantScope,
        bot: BotId,
        why: &str,
        deaf_after: Duration,
    ) -> Result<bool, StoreError>;

    /// Records that a message to a bot arrived.
    async fn record_message(&self, scope: TenantScope, bot: BotId) -> Result<(), StoreError>;

    /// Records that messages to a bot may be missing, and notifies its operator with this text. Returns the beginning
    /// of the gap and the chats to check.
    async fn record_gap(
        &self,
        scope: TenantScope,
        bot: BotId,
        words: &str,
    ) -> Result<Gap, StoreError>;

    /// Takes one of the sessions that a bot may begin in a day. Returns false if none was left.
    async fn begin(&self, scope: TenantScope, bot: BotId) -> Result<bool, StoreError>;

    /// Returns the reception state of a tenant's bots that have a record.
    async fn receptions(&self, scope: TenantScope) -> Result<Vec<BotReception>, StoreError>;
}
