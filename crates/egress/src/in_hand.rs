//! In hand: the sends this node is at work on, so that a look at what waits takes none twice.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::SendKey;

/// What is in hand. There is no more of it than there are places in the lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct InHand(Arc<Mutex<HashSet<SendKey>>>);

/// One send in hand, until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    in_hand: InHand,
    key: SendKey,
}

impl InHand {
    /// Takes a send in hand. `None`: it is already.
    pub(crate) fn take(&self, key: &SendKey) -> Option<Held> {
        let taken = self.lock().insert(key.clone());
        taken.then(|| Held { in_hand: self.clone(), key: key.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<SendKey>> {
        // What is behind it is whole at every step, also if a holder panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.in_hand.lock().remove(&self.key);
    }
}
