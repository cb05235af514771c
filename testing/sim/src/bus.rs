//! The simulated bell between nodes: hints arrive late, twice, out of order, or not at all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_bus::{Bell, BellAddress, LineRegistry, MarkedItems, Ring};
use nightdesk_types::limits::{BEAT_EVERY, BEAT_MISSED_AFTER};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::chance::Chance;

/// Maximum delay of a late hint. The real bell drops hints older than half a minute.
const LATE_MS_MAX: u64 = 10_000;

/// Error rates of the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noise {
    /// Maximum delay of a hint.
    pub takes_ms_max: u64,
    /// Hints per thousand that are silently lost.
    pub lost_per_mille: u64,
    /// Hints per thousand that arrive twice.
    pub doubled_per_mille: u64,
    /// Hints per thousand that are overtaken by others.
    pub late_per_mille: u64,
}

/// The bus that all nodes share.
#[derive(Clone, Debug)]
pub struct SimBus(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    chance: Chance,
    noise: Noise,
    down: bool,
    nodes: BTreeMap<String, Member>,
}

#[derive(Debug, Default)]
struct Member {
    cut: bool,
    /// The listener of the node's newest process.
    ears: Option<Arc<LineRegistry>>,
}

impl SimBus {
    /// Creates a bus whose noise follows from the random numbers.
    pub fn of(chance: Chance, noise: Noise) -> Self {
        let state = State { chance, noise, down: false, nodes: BTreeMap::new() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Sets the error rates.
    pub fn set(&self, noise: Noise) {
        self.state().noise = noise;
    }

    /// Disconnects the bus from all nodes, or reconnects it.
    pub fn set_down(&self, down: bool) {
        self.state().down = down;
    }

    /// Disconnects a node, or reconnects it.
    pub fn set_cut(&self, node: &str, cut: bool) {
        self.state().nodes.entry(node.to_owned()).or_default().cut = cut;
    }

    /// Removes the listener of a node that died.
    pub fn forget(&self, node: &str) {
        self.state().nodes.entry(node.to_owned()).or_default().ears = None;
    }

    fn is_away(&self, node: &str) -> bool {
        self.state().is_away(node)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent at every step, even if a holder panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_away(&self, node: &str) -> bool {
        self.down || self.nodes.get(node).is_some_and(|member| member.cut)
    }

    /// Returns the listeners at an address, except the ringing node.
    fn listeners(&self, from: &str, address: &BellAddress) -> Vec<Arc<LineRegistry>> {
        if self.is_away(from) {
            return Vec::new();
        }
        let others = self.nodes.iter().filter(|(name, _)| *name != from && !self.is_away(name));
        let ears = others.filter_map(|(_, member)| member.ears.clone());
        ears.filter(|ears| ears.listens_at(address)).collect()
    }

    /// Returns the delay of each copy of a hint. A stop is never doubled, because the real bell removes duplicates.
    fn copies(&mut self, ring: &Ring) -> Vec<Duration> {
        let Noise { takes_ms_max, lost_per_mille, doubled_per_mille, late_per_mille } = self.noise;
        if self.chance.happens(lost_per_mille) {
            return Vec::new();
        }
        let once = matches!(ring, Ring::Stop { .. });
        let count = if !once && self.chance.happens(doubled_per_mille) { 2 } else { 1 };
        let mut takes = |_| {
            let late = self.chance.happens(late_per_mille);
            self.chance.millis(0, if late { LATE_MS_MAX } else { takes_ms_max })
        };
        (0..count).map(&mut takes).collect()
    }
}

/// The bell of one process of a node.
#[derive(Clone, Debug)]
pub struct SimBell {
    bus: SimBus,
    node: String,
    ears: Arc<LineRegistry>,
    /// Hints in transit.
    hints: TaskTracker,
}

impl SimBell {
    /// Connects a node to the bus.
    pub fn of(bus: &SimBus, node: &str, ears: &Arc<LineRegistry>) -> Self {
        let mut state = bus.state();
        state.nodes.entry(node.to_owned()).or_default().ears = Some(Arc::clone(ears));
        drop(state);
        let (bus, node, ears) = (bus.clone(), node.to_owned(), Arc::clone(ears));
        Self { bus, node, ears, hints: TaskTracker::new() }
    }

    /// Listens for this node's own heartbeat, as the real bell does: without it, the bell is broken.
    pub async fn beat(self, until: CancellationToken) {
        let mut heard = Instant::now();
        while until.run_until_cancelled(sleep(BEAT_EVERY)).await.is_some() {
            if !self.bus.is_away(&self.node) {
                heard = Instant::now();
            }
            self.ears.lines_in_doubt().set_broken(heard.elapsed() >= BEAT_MISSED_AFTER);
        }
    }

    /// Notifies older lines on other nodes when a line opens here, as the real bell does.
    pub async fn follow(self, until: CancellationToken) {
        while let Some(changed) =
            until.run_until_cancelled(self.ears.changed_addresses().wait_and_take()).await
        {
            let changed = match changed {
                MarkedItems::These(changed) => changed.into_iter().collect(),
                MarkedItems::All => self.ears.addresses(),
            };
            for address in changed {
                let BellAddress::Agent(agent) = address else { continue };
                let Some(by) = self.ears.generation(agent) else { continue };
                self.ears.lines_in_doubt().doubt_line(agent);
                self.ring_elsewhere(&Ring::Replaced { agent, by }, &address);
            }
        }
    }

    fn ring_elsewhere(&self, ring: &Ring, address: &BellAddress) -> bool {
        let mut state = self.bus.state();
        let listeners = state.listeners(&self.node, address);
        for ears in &listeners {
            for takes in state.copies(ring) {
                let (ears, ring) = (Arc::clone(ears), ring.clone());
                self.hints.spawn(async move {
                    sleep(takes).await;
                    ears.ring(ring).await;
                });
            }
        }
        !listeners.is_empty()
    }
}

#[async_trait]
impl Bell for SimBell {
    async fn ring(&self, ring: Ring) -> bool {
        let address = ring.address();
        let here = self.ears.ring(ring.clone()).await;
        let own = matches!(&address, BellAddress::Node(name) if *name == self.node);
        if own || here && matches!(ring, Ring::Entry { .. }) {
            return here;
        }
        self.ring_elsewhere(&ring, &address) || here
    }
}
