//! Quotas: how much a tenant may have, as it is written down.

use async_trait::async_trait;
use nightdesk_types::{Quota, StoreError, TenantScope};

/// Keeps quotas. They are read where they count, so that a change needs no restart.
#[async_trait]
pub trait Quotas: Send + Sync {
    /// How much a tenant may have of everything.
    async fn quotas(&self, scope: TenantScope) -> Result<Vec<(Quota, i64)>, StoreError>;

    /// Sets one. What the tenant has already stays its own.
    async fn set_quota(
        &self,
        scope: TenantScope,
        quota: Quota,
        allowed: i64,
    ) -> Result<(), StoreError>;
}
