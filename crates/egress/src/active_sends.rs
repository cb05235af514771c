//! The sends that this node is working on, so that a query for waiting sends takes none twice.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::SendKey;

/// The set of these sends. It is bounded by the places in the lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveSends(Arc<Mutex<HashSet<SendKey>>>);

/// One send in the set, until this value is dropped.
#[derive(Debug)]
pub(crate) struct ActiveSendGuard {
    in_hand: ActiveSends,
    key: SendKey,
}

impl ActiveSends {
    /// Adds a send. `None`: it is already in the set.
    pub(crate) fn take(&self, key: &SendKey) -> Option<ActiveSendGuard> {
        let taken = self.lock().insert(key.clone());
        taken.then(|| ActiveSendGuard { in_hand: self.clone(), key: key.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<SendKey>> {
        // The set is consistent at every step, also if a holder of the lock panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ActiveSendGuard {
    fn drop(&mut self) {
        self.in_hand.lock().remove(&self.key);
    }
}
