//! Past sends of an agent in a chat.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, RequestId, StoreError, TenantScope, Timestamp};

use crate::SendResult;

/// A past send, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastSend {
    /// The gateway's id of the request.
    pub request: RequestId,
    /// The time of the request.
    pub asked_at: Timestamp,
    /// The result. `None`: it is in progress.
    pub result: Option<SendResult>,
}

/// The place of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendPlace<'a> {
    /// The bot.
    pub bot: BotId,
    /// The chat.
    pub chat_id: &'a str,
}

/// Reads past sends.
#[async_trait]
pub trait PastSends: Send + Sync {
    /// Returns one page of an agent's sends in a chat since a time, oldest first.
    async fn read_past_sends(
        &self,
        scope: TenantScope,
        agent: AgentId,
        place: SendPlace<'_>,
        since: Timestamp,
    ) -> Result<Vec<PastSend>, StoreError>;
}
