//! Quotas of tenants, as stored.

use async_trait::async_trait;
use nightdesk_types::{Quota, StoreError, TenantScope};

/// Stores quotas. They are read where they are enforced, so a change needs no restart.
#[async_trait]
pub trait Quotas: Send + Sync {
    /// Returns all quotas of a tenant.
    async fn quotas(&self, scope: TenantScope) -> Result<Vec<(Quota, i64)>, StoreError>;

    /// Sets one quota. Existing resources of the tenant stay.
    async fn set_quota(
        &self,
        scope: TenantScope,
        quota: Quota,
        allowed: i64,
    ) -> Result<(), StoreError>;
}
