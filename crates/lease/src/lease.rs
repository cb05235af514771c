//! The lease of this node, as far as it can know by itself.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nightdesk_types::limits::LEASE_LASTS;
use nightdesk_types::{Clock, Moment, Node};
use tokio_util::sync::CancellationToken;

/// This node's life. Whoever does something only an owner may do asks it first.
pub struct Lease {
    node: Node,
    clock: Box<dyn Clock>,
    until: Mutex<Moment>,
    over: CancellationToken,
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("node", &self.node).finish_non_exhaustive()
    }
}

impl Lease {
    /// The lease of a life that was begun at this moment, or later.
    pub fn begun(node: Node, clock: Box<dyn Clock>, asked_at: Moment) -> Self {
        let until = Mutex::new(asked_at + LEASE_LASTS);
        Self { node, clock, until, over: CancellationToken::new() }
    }

    /// Whose life it is.
    pub const fn node(&self) -> &Node {
        &self.node
    }

    /// The monotonic time.
    pub fn moment(&self) -> Moment {
        self.clock.moment()
    }

    /// Whether nobody can have taken this node for dead yet.
    pub fn is_held(&self) -> bool {
        !self.over.is_cancelled() && self.left() > Duration::ZERO
    }

    /// Waits until this life is over.
    pub async fn is_over(&self) {
        self.over.cancelled().await;
    }

    /// It was renewed by a question that was asked at this moment.
    pub(crate) fn renewed(&self, asked_at: Moment) {
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        // The store counts from when it was asked, or later: we never think that we live longer.
        *until = (*until).max(asked_at + LEASE_LASTS);
    }

    pub(crate) fn end(&self) {
        self.over.cancel();
    }

    fn left(&self) -> Duration {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.since(self.clock.moment())
    }
}
