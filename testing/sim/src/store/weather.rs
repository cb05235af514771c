//! The current state of the connections to the store.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::chance::Chance;

/// Maximum delay of a stalled direction. A statement is given up within two seconds, and a call has two directions.
const HANGS_MS_MAX: u64 = 950;

/// Error rates of the connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Climate {
    /// Maximum latency of one direction.
    pub way_ms_max: u64,
    /// Directions per thousand that stall.
    pub stalls_per_mille: u64,
    /// Directions per thousand that are lost: a lost request is not executed, a lost response belongs to an executed
    /// call.
    pub lost_per_mille: u64,
}

/// The connections of all nodes to the store.
#[derive(Clone, Debug)]
pub struct Weather(Arc<Mutex<Now>>);

#[derive(Debug)]
struct Now {
    chance: Chance,
    climate: Climate,
    down: bool,
    cut: BTreeSet<String>,
}

impl Weather {
    /// Creates connections whose errors follow from the random numbers.
    pub fn of(chance: Chance, climate: Climate) -> Self {
        let now = Now { chance, climate, down: false, cut: BTreeSet::new() };
        Self(Arc::new(Mutex::new(now)))
    }

    /// Sets the error rates.
    pub fn set(&self, climate: Climate) {
        self.now().climate = climate;
    }

    /// Disconnects the store from all nodes, or reconnects it.
    pub fn set_down(&self, down: bool) {
        self.now().down = down;
    }

    /// Disconnects a node, or reconnects it.
    pub fn set_cut(&self, node: &str, cut: bool) {
        let mut now = self.now();
        if cut {
            now.cut.insert(node.to_owned());
        } else {
            now.cut.remove(node);
        }
    }

    /// Returns true if the store is down for all nodes.
    pub fn is_down(&self) -> bool {
        self.now().down
    }

    /// Returns true if a node cannot reach the store.
    pub(super) fn is_away(&self, node: &str) -> bool {
        self.now().is_away(node)
    }

    /// Returns the latency of a node's next direction, and true if it gets lost.
    pub(super) fn way(&self, node: &str) -> (Duration, bool) {
        let mut now = self.now();
        let Climate { way_ms_max, stalls_per_mille, lost_per_mille } = now.climate;
        let lost = now.is_away(node) || now.chance.happens(lost_per_mille);
        let stalls = now.chance.happens(if lost { 500 } else { stalls_per_mille });
        let longest = if stalls { HANGS_MS_MAX } else { way_ms_max };
        (now.chance.millis(0, longest), lost)
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // The state is consistent at every step, even if a holder panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Now {
    fn is_away(&self, node: &str) -> bool {
        self.down || self.cut.contains(node)
    }
}
