//! A short-lived cache of owners.

use std::sync::Arc;

use moka::sync::Cache;
use nightdesk_types::limits::{OWNER_KEPT_FOR, OWNERS_KEPT_MAX};
use nightdesk_types::{OwnerEpoch, StoreError};
use tokio::time::Instant;

use crate::lease::Lease;
use crate::store::{Owner, Resource, Store};

/// The owner of a resource, as this node sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// This node, with its epoch.
    Here(OwnerEpoch),
    /// Another node, by name.
    By(String),
}

/// Finds owners, and claims resources without one.
pub struct Owners {
    lease: Arc<Lease>,
    store: Arc<dyn Store>,
    /// Each with the time of its query, by the clock that tests can move.
    cache: Cache<Resource, (Instant, Owner)>,
}

impl std::fmt::Debug for Owners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Owners").field("lease", &self.lease).finish_non_exhaustive()
    }
}

impl Owners {
    /// Creates the cache for this node's lease.
    pub fn new(lease: Arc<Lease>, store: Arc<dyn Store>) -> Self {
        Self { lease, store, cache: Cache::new(OWNERS_KEPT_MAX) }
    }

    /// Returns this node's lease.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Returns the owner of a resource. This node claims a resource without an owner. A cached owner may be outdated:
    /// then the store refuses the write.
    pub async fn find_or_claim(&self, resource: Resource) -> Result<Ownership, StoreError> {
        let kept = self.cache.get(&resource);
        if let Some((_, owner)) = kept.filter(|(at, _)| at.elapsed() < OWNER_KEPT_FOR) {
            return Ok(self.ownership_of(owner));
        }
        let asked_at = Instant::now();
        let owner = self.store.find_or_claim(resource, self.lease.node()).await?;
        let owner = owner.ok_or_else(|| {
            StoreError::unavailable("claim ownership", "the life of this node is over")
        })?;
        self.cache.insert(resource, (asked_at, owner.clone()));
        Ok(self.ownership_of(owner))
    }

    /// Removes an outdated owner from the cache.
    pub fn forget(&self, resource: Resource) {
        self.cache.invalidate(&resource);
    }

    fn ownership_of(&self, owner: Owner) -> Ownership {
        if owner.node == *self.lease.node() {
            Ownership::Here(owner.epoch)
        } else {
            Ownership::By(owner.node.name)
        }
    }
}
