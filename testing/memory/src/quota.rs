//! Implements quotas.

use async_trait::async_trait;
use nightdesk_register::Quotas;
use nightdesk_register::audit::Kind;
use nightdesk_types::{OverQuota, Quota, StoreError, TenantScope};
use serde_json::json;

use super::{Memory, State};

impl State {
    /// Returns a tenant's quota.
    pub(super) fn allowed(&self, scope: TenantScope, quota: Quota) -> i64 {
        self.quotas.get(&(scope, quota)).copied().unwrap_or_else(|| quota.default_allowed())
    }

    /// Refuses one more item if a tenant has reached its quota.
    pub(super) fn keep_quota(
        &self,
        operation: &'static str,
        scope: TenantScope,
        quota: Quota,
        has: usize,
    ) -> Result<(), StoreError> {
        let allowed = self.allowed(scope, quota);
        let is_within = i64::try_from(has).is_ok_and(|has| has < allowed);
        let over = || StoreError::quota_exceeded(operation, OverQuota { quota, allowed });
        if is_within { Ok(()) } else { Err(over()) }
    }
}

#[async_trait]
impl Quotas for Memory {
    async fn quotas(&self, scope: TenantScope) -> Result<Vec<(Quota, i64)>, StoreError> {
        let state = self.lock();
        Ok(Quota::ALL.map(|quota| (quota, state.allowed(scope, quota))).to_vec())
    }

    async fn set_quota(
        &self,
        scope: TenantScope,
        quota: Quota,
        allowed: i64,
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.quotas.insert((scope, quota), allowed);
        let about = json!({ "quota": quota.slug(), "allowed": allowed });
        self.tell(&mut state, scope, Kind::QuotaSet, &about);
        Ok(())
    }
}
