//! Implements requests of operators to read a tenant's messages.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{Actor, BreakGlassId, StoreError, TenantId, TenantScope, UserId};
use nightdesk_users::{GlassRefusal, GlassRequest, GlassState, GlassStore, decide_approval};
use serde_json::json;

use super::super::{Memory, State};
use super::is_live;

impl Memory {
    fn tell_glass(&self, state: &mut State, by: UserId, kind: Kind, request: &GlassRequest) {
        let scope = TenantScope::for_tenant(request.tenant).with_actor(Actor::User(by));
        let mut about = json!({ "request_id": request.id, "asked_by": request.asked_by });
        if let (GlassState::Open { approved_by, .. }, Kind::GlassApproved) = (request.state, kind) {
            about["approved_by"] = json!(approved_by);
        }
        self.tell(state, scope, kind, &about);
    }
}

#[async_trait]
impl GlassStore for Memory {
    async fn ask_glass(
        &self,
        scope: TenantScope,
        by: UserId,
        reason: &str,
        lasts: Duration,
    ) -> Result<GlassRequest, StoreError> {
        let mut state = self.lock();
        let request = GlassRequest {
            id: BreakGlassId::from_uuid(state.mint()),
            tenant: scope.tenant(),
            asked_by: by,
            asked_at: self.now(),
            reason: reason.to_owned(),
            lasts,
            state: GlassState::Asked,
        };
        state.users.glass.push(request.clone());
        self.tell_glass(&mut state, by, Kind::GlassAsked, &request);
        Ok(request)
    }

    async fn approve_glass(
        &self,
        by: UserId,
        id: BreakGlassId,
    ) -> Result<Option<Result<GlassRequest, GlassRefusal>>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let Some(row) = state.users.glass.iter_mut().find(|row| row.id == id) else {
            return Ok(None);
        };
        match decide_approval(row, by, now) {
            Ok(open) => row.state = open,
            Err(refusal) => return Ok(Some(Err(refusal))),
        }
        let request = row.clone();
        self.tell_glass(&mut state, by, Kind::GlassApproved, &request);
        Ok(Some(Ok(request)))
    }

    async fn end_glass(&self, by: UserId, id: BreakGlassId) -> Result<bool, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let row = state.users.glass.iter_mut().find(|row| row.id == id);
        let Some(row) = row.filter(|row| is_live(row, now)) else { return Ok(false) };
        row.state = GlassState::Ended;
        let request = row.clone();
        self.tell_glass(&mut state, by, Kind::GlassEnded, &request);
        Ok(true)
    }

    async fn glass_requests(
        &self,
        tenant: Option<TenantId>,
    ) -> Result<Vec<GlassRequest>, StoreError> {
        let state = self.lock();
        let newest = state.users.glass.iter().rev();
        let of_tenant = newest.filter(|row| tenant.is_none_or(|tenant| row.tenant == tenant));
        Ok(of_tenant.take(usize::try_from(LIST_ROWS_MAX).unwrap_or(0)).cloned().collect())
    }
}
