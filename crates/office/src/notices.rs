//! Notices to the owners of agents and bots.

use nightdesk_types::{AgentId, BotId, TenantScope};
use nightdesk_wake::{NoticeSubject, OwnerNotice};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::times::seconds;

/// A notice.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct NoticeView {
    /// The time.
    pub at: String,
    /// The kind.
    pub kind: &'static str,
    /// The agent that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// The number of calls, wakes or tries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    /// The bot that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub bot_id: Option<BotId>,
    /// The text, with the step to take.
    pub text: String,
}

impl From<&OwnerNotice> for NoticeView {
    fn from(notice: &OwnerNotice) -> Self {
        let (agent_id, calls, bot_id) = match notice.about {
            NoticeSubject::Agent(agent) => (Some(agent), Some(notice.calls), None),
            NoticeSubject::Bot(bot) => (None, None, Some(bot)),
        };
        let (at, kind, text) = (seconds(notice.at), notice.kind.slug(), notice.text());
        Self { at, kind, agent_id, calls, bot_id, text }
    }
}

impl Office {
    /// Returns the recent notices to a tenant, newest first.
    pub async fn notices(&self, scope: TenantScope) -> Result<Vec<NoticeView>, OfficeError> {
        let notices = self.store.notices(scope).await?;
        Ok(notices.iter().map(NoticeView::from).collect())
    }
}
