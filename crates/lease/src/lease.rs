//! The lease of this node, as far as the node itself can know.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nightdesk_types::limits::LEASE_LASTS;
use nightdesk_types::{Clock, Moment, Node};
use tokio_util::sync::CancellationToken;

/// This node's life. A task that acts as an owner checks it first.
pub struct Lease {
    node: Node,
    clock: Box<dyn Clock>,
    until: Mutex<Moment>,
    ended: CancellationToken,
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("node", &self.node).finish_non_exhaustive()
    }
}

impl Lease {
    /// Creates the lease of a life that began at this moment or later.
    pub fn new(node: Node, clock: Box<dyn Clock>, asked_at: Moment) -> Self {
        let until = Mutex::new(asked_at + LEASE_LASTS);
        Self { node, clock, until, ended: CancellationToken::new() }
    }

    /// Returns the node.
    pub const fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the monotonic time.
    pub fn moment(&self) -> Moment {
        self.clock.moment()
    }

    /// Returns true if no other node can consider this node dead yet.
    pub fn is_held(&self) -> bool {
        !self.ended.is_cancelled() && self.remaining() > Duration::ZERO
    }

    /// Waits until this life is over.
    pub async fn wait_until_over(&self) {
        self.ended.cancelled().await;
    }

    /// Records a renewal whose request was sent at this moment.
    pub(crate) fn record_renewal(&self, asked_at: Moment) {
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        // The store counts from the request or later, so this node never assumes a longer lease.
        *until = (*until).max(asked_at + LEASE_LASTS);
    }

    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    fn remaining(&self) -> Duration {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.since(self.clock.moment())
    }
}
