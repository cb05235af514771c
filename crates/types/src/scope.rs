//! Scope: for whom something is done.

use crate::id::TenantId;

/// The one tenant a call may touch.
///
/// Scopes are made in three places only: where a token is checked, where a platform
/// signature is checked, and where a worker reads the tenant from a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantScope(TenantId);

impl TenantScope {
    /// Makes a scope for a tenant whose right to it was just proven.
    pub const fn of(tenant: TenantId) -> Self {
        Self(tenant)
    }

    /// The tenant.
    pub const fn tenant(self) -> TenantId {
        self.0
    }
}
