//! Past sends of an agent in a chat.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, RequestId, StoreError, TenantScope, Timestamp};

use crate::Settled;

/// A past send, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The gateway's id of the request.
    pub request: RequestId,
    /// The time of the request.
    pub asked_at: Timestamp,
    /// The result. `None`: it is in progress.
    pub came: Option<Settled>,
}

/// The place of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Where<'a> {
    /// The bot.
    pub bot: BotId,
    /// The chat.
    pub chat_id: &'a str,
}

/// Reads past sends.
#[async_trait]
pub trait Sayings: Send + Sync {
    /// Returns one page of an agent's sends in a chat since a time, oldest first.
    async fn said(
        &self,
        scope: TenantScope,
        agent: AgentId,
        place: Where<'_>,
        since: Timestamp,
    ) -> Result<Vec<Said>, StoreError>;
}
