//! Said: what an agent said in a chat, as it is remembered.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, RequestId, StoreError, TenantScope, Timestamp};

use crate::Settled;

/// Something that an agent said, without its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What the gateway calls it.
    pub request: RequestId,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// What came of it. `None`: it is under way.
    pub came: Option<Settled>,
}

/// Where it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Where<'a> {
    /// Through which bot.
    pub bot: BotId,
    /// In which chat.
    pub chat_id: &'a str,
}

/// Remembers what agents said.
#[async_trait]
pub trait Sayings: Send + Sync {
    /// What an agent said in a chat since then, oldest first, a page of it.
    async fn said(
        &self,
        scope: TenantScope,
        agent: AgentId,
        place: Where<'_>,
        since: Timestamp,
    ) -> Result<Vec<Said>, StoreError>;
}
