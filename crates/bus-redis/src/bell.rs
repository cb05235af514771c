//! The bell over Redis: rings on this node, and publishes to others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use nightdesk_bus::{Bell, BellAddress, HintHistory, HintSeal, LineRegistry, Ring};
use nightdesk_types::{Clock, Moment};
use redis::Client;

use crate::channel::Channels;
use crate::connect::{ConnectError, client, connect};
use crate::metrics::Metrics;
use crate::note::BellNote;
use crate::peers::Peers;
use crate::publisher::Publisher;

/// The connection settings of a node.
pub struct BellSettings<'a> {
    /// The URL: `redis://host:6379` or, over TLS, `rediss://host:6379`.
    pub url: &'a str,
    /// The password, if Redis requires one.
    pub password: Option<&'a str>,
    /// The name of this node.
    pub node: &'a str,
    /// The secret that only the nodes of the cell share.
    pub secret: &'a [u8; 32],
}

/// The bell of a node among several.
pub struct RedisBell {
    pub(crate) client: Client,
    pub(crate) node: String,
    pub(crate) lines: Arc<LineRegistry>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) seal: HintSeal,
    pub(crate) channels: Channels,
    pub(crate) publisher: Publisher,
    pub(crate) metrics: Metrics,
    state: Mutex<BellState>,
}

impl std::fmt::Debug for RedisBell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RedisBell({})", self.node)
    }
}

/// The state of the bell and of other nodes.
#[derive(Debug, Default)]
pub(crate) struct BellState {
    pub(crate) lives: HintHistory,
    pub(crate) peers: Peers,
    /// The time when the node last received its own heartbeat on this connection.
    pub(crate) own_heartbeat_at: Option<Moment>,
    /// The start of the current break.
    pub(crate) broken_since: Option<Moment>,
    /// The time when a break was last logged.
    pub(crate) logged_at: Option<Moment>,
}

impl RedisBell {
    /// Creates the bell for these ears. Until it [runs](Self::run), it counts as broken.
    pub fn new(
        settings: &BellSettings<'_>,
        ears: Arc<LineRegistry>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ConnectError> {
        let client = client(settings.url, settings.password)?;
        let seal = HintSeal::new(settings.secret);
        ears.lines_in_doubt().set_broken(true);
        Ok(Self {
            client,
            node: settings.node.to_owned(),
            lines: ears,
            clock,
            channels: Channels::for_cell(&seal.cell()),
            seal,
            publisher: Publisher::default(),
            metrics: Metrics::default(),
            state: Mutex::default(),
        })
    }

    /// Connects once, to check that Redis answers.
    pub async fn check_connection(&self) -> Result<(), ConnectError> {
        Ok(connect(&self.client, &self.lines).await.map(drop)?)
    }

    /// Returns the metrics.
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns a note for an address as channel and sealed text, or `None` if it is too long.
    pub(crate) fn seal_note(
        &self,
        note: &BellNote,
        address: &BellAddress,
    ) -> Option<(String, String)> {
        let sealed = self.seal.seal(self.clock.now(), &note.encode())?;
        Some((self.channels.channel_of(address), sealed))
    }

    pub(crate) fn lock_state(&self) -> MutexGuard<'_, BellState> {
        // The state is consistent at every step, also if a holder of the lock panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ring_elsewhere(&self, ring: Ring, address: &BellAddress) -> bool {
        let Some((channel, sealed)) = self.seal_note(&BellNote::Ring(ring), address) else {
            return false;
        };
        let heard = self.publisher.ring(&channel, &sealed).await;
        self.metrics.count_ring(heard);
        heard.is_some_and(|heard| heard > 0)
    }
}

#[async_trait]
impl Bell for RedisBell {
    async fn ring(&self, ring: Ring) -> bool {
        let address = ring.address();
        let here = self.lines.ring(ring.clone()).await;
        if is_all(&ring, here) || is_own(&address, &self.node) {
            return here;
        }
        self.ring_elsewhere(ring, &address).await || here
    }
}

/// Returns true if other nodes need not receive a hint that was delivered here. A line that was replaced on another
/// node and does not know it yet finds out at its next read; for a stop that would be too late.
const fn is_all(ring: &Ring, here: bool) -> bool {
    here && matches!(ring, Ring::Entry { .. })
}

fn is_own(address: &BellAddress, node: &str) -> bool {
    matches!(address, BellAddress::Node(name) if name == node)
}
