//! Shared state of a node's lines.

use std::sync::Arc;

use nightdesk_bus::LineRegistry;
use nightdesk_inbox::Inbox;
use nightdesk_types::rate_limit::Rate;
use nightdesk_types::{Clock, Node};
use tokio_util::sync::CancellationToken;

use crate::admission::DialLimits;
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

nightdesk_types::opaque_debug!(LineContext);
