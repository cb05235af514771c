//! Hearing: whether what people say to a bot comes through, as whoever listens for it found.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{BotId, StoreError, TenantScope, Timestamp};

/// How it stands with what a bot hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hearing {
    /// Which bot.
    pub bot: BotId,
    /// When its platform last answered, and nothing was wrong.
    pub heard_at: Option<Timestamp>,
    /// When somebody last said something to it.
    pub said_at: Option<Timestamp>,
    /// That nothing is heard.
    pub silence: Option<Silence>,
}

/// Nothing is heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Since when.
    pub since: Timestamp,
    /// Why, in words.
    pub why: String,
    /// Whether it is so for long enough that the operator was told.
    pub is_told: bool,
}

/// What may be missing of what was said to a bot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Since when. Nothing was heard before, if it is not known.
    pub since: Option<Timestamp>,
    /// In which chats: those first from which something came last.
    pub chats: Vec<String>,
}

/// Keeps how well bots hear, and tells their operators.
#[async_trait]
pub trait Hearings: Send + Sync {
    /// Notes that a bot's platform answered, and nothing is wrong. If that was last so longer ago than
    /// the platform keeps what it cannot tell, the operator is told in these words what may be lost.
    async fn heard(
        &self,
        scope: TenantScope,
        bot: BotId,
        kept: Duration,
        lost: &str,
    ) -> Result<(), StoreError>;

    /// Notes that nothing could be heard, and why. Answers whether that is so for long enough that the
    /// operator was told now: once, until something is heard.
    async fn unheard(
        &self,
        scope: TenantScope,
        bot: BotId,
        why: &str,
        deaf_after: Duration,
    ) -> Result<bool, StoreError>;

    /// Notes that somebody said something to a bot.
    async fn said(&self, scope: TenantScope, bot: BotId) -> Result<(), StoreError>;

    /// Notes that something may be missing of what was said to a bot, and tells its operator in these
    /// words. Answers since when, and where to look for it.
    async fn missed(&self, scope: TenantScope, bot: BotId, words: &str) -> Result<Gap, StoreError>;

    /// Takes one of the sessions that a bot may begin in a day. Answers whether any was left.
    async fn begin(&self, scope: TenantScope, bot: BotId) -> Result<bool, StoreError>;

    /// How it stands with a tenant's bots, as far as anybody listened for them.
    async fn hearings(&self, scope: TenantScope) -> Result<Vec<Hearing>, StoreError>;
}
