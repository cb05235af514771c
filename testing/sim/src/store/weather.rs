//! Weather: how the wires to the store are just now.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::chance::Chance;

/// How long a call may hang before it fails. A statement is given up within two seconds, and a call
/// has two ways.
const HANGS_MS_MAX: u64 = 950;

/// What is usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Climate {
    /// How long one way takes at most.
    pub way_ms_max: u64,
    /// Of a thousand ways, how many take very long.
    pub stalls_per_mille: u64,
    /// Of a thousand ways, how many are not come to an end: there, nothing was done; back, it was
    /// done and nobody knows.
    pub lost_per_mille: u64,
}

/// The wires of all nodes to the store.
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
    /// Weather that follows from chance.
    pub fn of(chance: Chance, climate: Climate) -> Self {
        let now = Now { chance, climate, down: false, cut: BTreeSet::new() };
        Self(Arc::new(Mutex::new(now)))
    }

    /// Changes what is usual.
    pub fn set(&self, climate: Climate) {
        self.now().climate = climate;
    }

    /// Takes the store away from everybody, or gives it back.
    pub fn set_down(&self, down: bool) {
        self.now().down = down;
    }

    /// Cuts a node off, or connects it again.
    pub fn set_cut(&self, node: &str, cut: bool) {
        let mut now = self.now();
        if cut {
            now.cut.insert(node.to_owned());
        } else {
            now.cut.remove(node);
        }
    }

    /// Whether it is away for everybody.
    pub fn is_down(&self) -> bool {
        self.now().down
    }

    /// Whether a node cannot reach the store.
    pub(super) fn is_away(&self, node: &str) -> bool {
        self.now().is_away(node)
    }

    /// How long a node's next way takes, and whether it gets lost on it.
    pub(super) fn way(&self, node: &str) -> (Duration, bool) {
        let mut now = self.now();
        let Climate { way_ms_max, stalls_per_mille, lost_per_mille } = now.climate;
        let lost = now.is_away(node) || now.chance.happens(lost_per_mille);
        let stalls = now.chance.happens(if lost { 500 } else { stalls_per_mille });
        let longest = if stalls { HANGS_MS_MAX } else { way_ms_max };
        (now.chance.millis(0, longest), lost)
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // What is behind it is whole at every step, also if a holder panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Now {
    fn is_away(&self, node: &str) -> bool {
        self.down || self.cut.contains(node)
    }
}
