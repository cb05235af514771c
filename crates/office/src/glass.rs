//! Broken glass: operators read the messages of a tenant for a time.

use std::time::Duration;

use nightdesk_types::{BreakGlassId, TenantScope};
use nightdesk_users::{Access, GlassRefusal, GlassRequest, GlassState};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::times::seconds;

/// A request of an operator to read a tenant's messages.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GlassView {
    /// Its id.
    pub request_id: String,
    /// The tenant.
    pub tenant_id: String,
    /// `asked`, `open` or `ended`.
    pub state: &'static str,
    /// The operator that asked.
    pub asked_by: String,
    /// The time of the request.
    pub asked_at: String,
    /// The reason.
    pub reason: String,
    /// The minutes for which the messages may be read.
    pub minutes: u64,
    /// The operator that approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// The end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_until: Option<String>,
}

impl From<GlassRequest> for GlassView {
    fn from(request: GlassRequest) -> Self {
        let (state, approval) = match request.state {
            GlassState::Asked => ("asked", None),
            GlassState::Open { approved_by, until } => ("open", Some((approved_by, until))),
            GlassState::Ended => ("ended", None),
        };
        Self {
            request_id: request.id.to_string(),
            tenant_id: request.tenant.to_string(),
            state,
            asked_by: request.asked_by.to_string(),
            asked_at: seconds(request.asked_at),
            reason: request.reason,
            minutes: request.lasts.as_secs() / 60,
            approved_by: approval.map(|(by, _)| by.to_string()),
            open_until: approval.map(|(_, until)| seconds(until)),
        }
    }
}
impl Office {
    /// Requests to read a tenant's messages.
    pub async fn ask_glass(
        &self,
        access: &Access,
        scope: TenantScope,
        reason: &str,
        minutes: u32,
    ) -> Result<GlassView, OfficeError> {
        let lasts = Duration::from_mins(u64::from(minutes));
        let asked = self.users().ask_glass(scope, access.user, reason, lasts).await?;
        asked.map(GlassView::from).map_err(glass_refusal)
    }

    /// Approves such a request of another operator.
    pub async fn approve_glass(
        &self,
        access: &Access,
        id: BreakGlassId,
    ) -> Result<GlassView, OfficeError> {
        let approved = self.users().store().approve_glass(access.user, id).await?;
        let approved = approved.ok_or_else(unknown_glass)?;
        approved.map(GlassView::from).map_err(glass_refusal)
    }

    /// Ends such a request, or withdraws it.
    pub async fn end_glass(&self, access: &Access, id: BreakGlassId) -> Result<(), OfficeError> {
        if self.users().store().end_glass(access.user, id).await? {
            return Ok(());
        }
        Err(unknown_glass())
    }

    /// Returns the newest such requests, of a tenant or of all.
    pub async fn glass_requests(
        &self,
        scope: Option<TenantScope>,
    ) -> Result<Vec<GlassView>, OfficeError> {
        let tenant = scope.map(TenantScope::tenant);
        let requests = self.users().store().glass_requests(tenant).await?;
        Ok(requests.into_iter().map(GlassView::from).collect())
    }
}

fn unknown_glass() -> OfficeError {
    OfficeError::NotFound("there is no such request, or it is over".to_owned())
}
fn glass_refusal(refusal: GlassRefusal) -> OfficeError {
    match refusal {
        GlassRefusal::BadReason | GlassRefusal::BadTime => {
            OfficeError::Invalid(refusal.to_string())
        }
        GlassRefusal::SameUser | GlassRefusal::NotAsked | GlassRefusal::Stale => {
            OfficeError::Conflict(refusal.to_string())
        }
    }
}
