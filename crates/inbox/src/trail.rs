//! Trace steps of an entry, emitted in each stop and joined by a subscriber.
//!
//! A step is an event of `tracing` with [`TARGET`], so that no stop depends on the trace format. Without a subscriber,
//! which only the operator enables, a step costs one comparison.

use std::time::Duration;

use nightdesk_types::{EntryId, Seq};
use tracing::Level;

use crate::entry::{LineClaim, StoredEntry};
use crate::store::AckRequest;

/// The target by which a subscriber recognises a step.
pub const TARGET: &str = "nightdesk::trail";

/// The step from a platform's request to the commit of its entries. It starts the trace.
pub const TAKE: &str = "take";

/// The part of [`TAKE`] that an entry waited for its writer and its commit.
pub const PUT: &str = "put";

/// The step from the delivery of an entry to the commit of its ack.
pub const HAND_OVER: &str = "hand over";

/// Emits a step that just ended, for each entry of an event.
pub fn trace_stored(step: &'static str, stored: &[StoredEntry], took: Duration) {
    if !is_followed() {
        return;
    }
    let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    for StoredEntry { agent, seq, incarnation, .. } in stored {
        let entry = EntryId { agent: *agent, incarnation: *incarnation, seq: *seq };
        tracing::trace!(target: TARGET, step, %entry, took_us);
    }
}

/// Returns the acks to emit after their commit, if a subscriber exists.
pub(crate) fn acks_to_trace(ack: &AckRequest) -> Option<AckRequest> {
    is_followed().then(|| ack.clone())
}

/// Emits the delivery of entries whose acks are committed.
pub(crate) fn trace_acked(ack: &AckRequest) {
    let LineClaim { agent, incarnation, .. } = ack.line;
    for range in &ack.ranges {
        let since_us = range.handed_at.as_microsecond();
        for seq in range.from.get()..=range.to.get() {
            let entry = EntryId { agent, incarnation, seq: Seq::new(seq) };
            tracing::trace!(target: TARGET, step = HAND_OVER, %entry, since_us);
        }
    }
}

fn is_followed() -> bool {
    tracing::event_enabled!(target: TARGET, Level::TRACE)
}
