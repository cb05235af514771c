//! Owners: who owns what, remembered for a moment.

use std::sync::Arc;

use moka::sync::Cache;
use nightdesk_types::limits::{OWNER_KEPT_FOR, OWNERS_KEPT_MAX};
use nightdesk_types::{OwnerEpoch, StoreError};

use crate::lease::Lease;
use crate::store::{Owner, Resource, Store};

/// Who owns something, as this node sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owned {
    /// This node, under that epoch.
    Here(OwnerEpoch),
    /// The node of that name.
    By(String),
}

/// Finds owners, and takes what nobody owns.
pub struct Owners {
    lease: Arc<Lease>,
    store: Arc<dyn Store>,
    kept: Cache<Resource, Owner>,
}

impl std::fmt::Debug for Owners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Owners").field("lease", &self.lease).finish_non_exhaustive()
    }
}

impl Owners {
    /// Looks from this node's lease.
    pub fn new(lease: Arc<Lease>, store: Arc<dyn Store>) -> Self {
        let kept =
            Cache::builder().max_capacity(OWNERS_KEPT_MAX).time_to_live(OWNER_KEPT_FOR).build();
        Self { lease, store, kept }
    }

    /// This node's lease.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Who owns something; this node takes it if nobody does. What it remembers may be old: the
    /// store refuses whoever acts on it.
    pub async fn of(&self, resource: Resource) -> Result<Owned, StoreError> {
        if let Some(owner) = self.kept.get(&resource) {
            return Ok(self.seen(owner));
        }
        let owner = self.store.own(resource, self.lease.node()).await?;
        let owner = owner.ok_or_else(|| {
            StoreError::unavailable("own something", "the lease of this node ran out")
        })?;
        self.kept.insert(resource, owner.clone());
        Ok(self.seen(owner))
    }

    /// Forgets who owned something: it turned out to be old.
    pub fn forget(&self, resource: Resource) {
        self.kept.invalidate(&resource);
    }

    fn seen(&self, owner: Owner) -> Owned {
        if owner.node == *self.lease.node() {
            Owned::Here(owner.epoch)
        } else {
            Owned::By(owner.node.name)
        }
    }
}
