//! Shared state of a node's lines.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_bus::Ears;
use nightdesk_inbox::Inbox;
use nightdesk_types::limits::DIALS_AT_ONCE_MAX;
use nightdesk_types::pace::Rate;
use nightdesk_types::{Clock, Moment, Node};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::admission::Admission;
use crate::desk::Desk;
use crate::failures::Failures;
use crate::leave::Leaving;
use crate::metrics::Metrics;
use crate::store::Store;

/// Shared state of a node's lines.
pub struct Room {
    /// The desk behind the lines.
    pub desk: Arc<dyn Desk>,
    /// The source of entries.
    pub inbox: Arc<Inbox>,
    /// The store of each agent's newest line.
    pub store: Arc<dyn Store>,
    /// The ears of the lines.
    pub ears: Arc<Ears>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// This node.
    pub node: Node,
    /// Cancelled when this node stops.
    pub drain: CancellationToken,
    /// The order in which lines close then.
    pub leaving: Leaving,
    /// The limit on dials that wait for the store.
    pub dials: Dials,
    /// The rate limit of a gateway's frames other than acks.
    pub frames: Rate,
    /// The invalid tokens at all entrances of the node.
    pub failures: Failures,
    /// The metrics.
    pub metrics: Metrics,
}

/// Limits on dials: [`DIALS_AT_ONCE_MAX`] concurrent store calls, and a rate of new lines.
#[derive(Debug)]
pub struct Dials {
    asking: Semaphore,
    admission: Admission,
}

impl Default for Dials {
    fn default() -> Self {
        let asking = Semaphore::new(DIALS_AT_ONCE_MAX);
        Self { asking, admission: Admission::default() }
    }
}

impl Dials {
    /// Runs a store call of a dial when its turn has come.
    pub(crate) async fn in_turn<T>(&self, ask: impl Future<Output = T>) -> T {
        // The semaphore is never closed, so a permit always comes.
        let _place = self.asking.acquire().await.ok();
        ask.await
    }

    /// Returns the time that a dial which came at `arrived` still waits. `None`: the client should retry.
    pub fn place(&self, arrived: Moment, now: Moment) -> Option<Duration> {
        self.admission.place(arrived, now)
    }
}

nightdesk_types::opaque_debug!(Room);
