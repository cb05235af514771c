//! Shared state of a node's lines.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_bus::LineRegistry;
use nightdesk_inbox::Inbox;
use nightdesk_types::limits::DIALS_AT_ONCE_MAX;
use nightdesk_types::rate_limit::Rate;
use nightdesk_types::{Clock, Moment, Node};
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::admission::DialAdmission;
use crate::drain::DrainOrder;
use crate::failures::TokenFailures;
use crate::handler::LineHandler;
use crate::metrics::Metrics;
use crate::store::Store;

/// Shared state of a node's lines.
pub struct LineContext {
    /// The desk behind the lines.
    pub desk: Arc<dyn LineHandler>,
    /// The source of entries.
    pub inbox: Arc<Inbox>,
    /// The store of each agent's newest line.
    pub store: Arc<dyn Store>,
    /// The ears of the lines.
    pub lines: Arc<LineRegistry>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// This node.
    pub node: Node,
    /// Cancelled when this node stops.
    pub drain: CancellationToken,
    /// The order in which lines close then.
    pub leaving: DrainOrder,
    /// The limits of authenticated dials.
    pub dials: DialLimits,
    /// The rate limit of a gateway's frames other than acks.
    pub frames: Rate,
    /// The invalid tokens at all entrances of the node.
    pub failures: TokenFailures,
    /// The metrics.
    pub metrics: Metrics,
}

/// Limits on authenticated dials: [`DIALS_AT_ONCE_MAX`] concurrent store calls, and a rate of new lines.
#[derive(Debug)]
pub struct DialLimits {
    asking: Semaphore,
    admission: DialAdmission,
}

impl Default for DialLimits {
    fn default() -> Self {
        let asking = Semaphore::new(DIALS_AT_ONCE_MAX);
        Self { asking, admission: DialAdmission::default() }
    }
}

impl DialLimits {
    /// Runs a store call of an authenticated dial when its turn has come.
    pub async fn run_in_turn<T>(&self, ask: impl Future<Output = T>) -> T {
        // The semaphore is never closed, so a permit always comes.
        let _place = self.asking.acquire().await.ok();
        ask.await
    }

    /// Waits until a dial may become a line. Returns false if the client should retry.
    pub async fn wait_for_place(&self, arrived: Moment, clock: &dyn Clock) -> bool {
        match self.reserve_place(arrived, clock.moment()) {
            Some(Duration::ZERO) => true,
            Some(wait) => {
                sleep(wait).await;
                true
            }
            None => false,
        }
    }

    /// Returns the time that a dial which came at `arrived` still waits. `None`: the client should retry.
    pub fn reserve_place(&self, arrived: Moment, now: Moment) -> Option<Duration> {
        self.admission.reserve_place(arrived, now)
    }
}

nightdesk_types::opaque_debug!(LineContext);
