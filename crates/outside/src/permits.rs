//! Counts the calls in progress, per tenant and in total.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nightdesk_types::TenantId;
use nightdesk_types::limits::OUTSIDE_AT_ONCE_MAX;

/// The group of calls that is counted together: a tenant's, except for hosts with a rate of the operator.
pub(crate) type PermitGroup = (TenantId, Option<String>);

/// Calls in progress. Groups without a call have no entry.
#[derive(Debug, Default)]
pub(crate) struct PermitPool {
    taken: Mutex<HashMap<PermitGroup, u32>>,
}

/// The permit for one call in progress; released when dropped.
#[derive(Debug)]
pub(crate) struct OutsidePermit {
    places: Arc<PermitPool>,
    group: PermitGroup,
}

impl PermitPool {
    /// Takes a place, if fewer than `max` of this group and not too many in total are taken.
    pub(crate) fn take(self: &Arc<Self>, whose: PermitGroup, max: u32) -> Option<OutsidePermit> {
        let mut taken = self.lock();
        let all: u32 = taken.values().sum();
        let of_these = taken.get(&whose).copied().unwrap_or_default();
        if of_these >= max || all >= OUTSIDE_AT_ONCE_MAX {
            return None;
        }
        taken.insert(whose.clone(), of_these + 1);
        Some(OutsidePermit { places: Arc::clone(self), group: whose })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PermitGroup, u32>> {
        // No code can panic between take and release.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OutsidePermit {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        match taken.get_mut(&self.group) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => drop(taken.remove(&self.group)),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn tenant(number: u128) -> PermitGroup {
        (TenantId::from_uuid(Uuid::from_u128(number)), None)
    }

    #[test]
    fn a_tenant_has_so_many_and_another_its_own() {
        let places = Arc::<PermitPool>::default();
        let held: Vec<_> = (0..4).map_while(|_| places.take(tenant(1), 4)).collect();

        assert_eq!(held.len(), 4);
        assert!(places.take(tenant(1), 4).is_none());
        assert!(places.take(tenant(2), 4).is_some());
    }

    #[test]
    fn what_is_given_back_can_be_taken_again_and_leaves_nothing() {
        let places = Arc::<PermitPool>::default();
        let held: Vec<_> = (0..2).map_while(|_| places.take(tenant(1), 2)).collect();
        drop(held);

        assert!(places.lock().is_empty());
        assert!(places.take(tenant(1), 2).is_some());
    }

    #[test]
    fn a_node_has_so_many() {
        let places = Arc::<PermitPool>::default();
        let tenants = (0..).map(tenant);
        let held: Vec<_> = tenants.map_while(|tenant| places.take(tenant, 4)).collect();

        assert_eq!(held.len(), OUTSIDE_AT_ONCE_MAX as usize);
    }
}
