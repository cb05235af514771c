//! Room: what every line of a node shares.

use std::sync::Arc;

use nightdesk_bus::Ears;
use nightdesk_inbox::Inbox;
use nightdesk_types::limits::DIALS_AT_ONCE_MAX;
use nightdesk_types::{Clock, Node};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::desk::Desk;
use crate::leave::Leaving;
use crate::metrics::Metrics;
use crate::store::Store;

/// What every line of a node shares.
pub struct Room {
    /// What stands behind the lines.
    pub desk: Arc<dyn Desk>,
    /// Where entries come from.
    pub inbox: Arc<Inbox>,
    /// Which line is an agent's.
    pub store: Arc<dyn Store>,
    /// Where lines listen.
    pub ears: Arc<Ears>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where the lines are.
    pub node: Node,
    /// Cancelled when this node stops.
    pub drain: CancellationToken,
    /// In which order lines leave then.
    pub leaving: Leaving,
    /// Who dials waits for a place here before the store is asked about it.
    pub dials: Dials,
    /// What is counted.
    pub metrics: Metrics,
}

/// Places for dials: [`DIALS_AT_ONCE_MAX`] of them.
#[derive(Debug)]
pub struct Dials(Semaphore);

impl Default for Dials {
    fn default() -> Self {
        Self(Semaphore::new(DIALS_AT_ONCE_MAX))
    }
}

impl Dials {
    /// Asks the store about a dial when its turn has come.
    pub(crate) async fn in_turn<T>(&self, ask: impl Future<Output = T>) -> T {
        // Nobody closes it, so there is always a place to come.
        let _place = self.0.acquire().await.ok();
        ask.await
    }
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Room")
    }
}
