//! Trail: the steps of one entry, said where they happen and put together by who listens.
//!
//! A step is an event of `tracing` with [`TARGET`], so that no stop knows what a trace is.
//! Nobody listens unless the operator asks for traces; until then a step costs a comparison.

use std::time::Duration;

use nightdesk_types::{EntryId, Seq};
use tracing::Level;

use crate::entry::Stored;
use crate::store::AckOf;

/// By what a listener knows a step.
pub const TARGET: &str = "nightdesk::trail";

/// From a platform's request to the commit of its entries. The trace begins with it.
pub const TAKE: &str = "take";

/// What of that an entry waited for its writer and its commit.
pub const PUT: &str = "put";

/// From the hand-over of an entry to the commit of its ack.
pub const HAND_OVER: &str = "hand over";

/// Says a step that just ended, for each entry an event became.
pub fn stored(step: &'static str, stored: &[Stored], took: Duration) {
    if !is_followed() {
        return;
    }
    let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    for Stored { agent, seq, .. } in stored {
        let entry = EntryId { agent: *agent, seq: *seq };
        tracing::trace!(target: TARGET, step, %entry, took_us);
    }
}

/// What is to be said of acks once they are committed, if anybody listens.
pub(crate) fn of_acks(ack: &AckOf) -> Option<AckOf> {
    is_followed().then(|| ack.clone())
}

/// Says that entries were handed over and their acks are committed.
pub(crate) fn acked(ack: &AckOf) {
    let agent = ack.line.agent;
    for range in &ack.ranges {
        let since_us = range.handed_at.as_microsecond();
        for seq in range.from.get()..=range.to.get() {
            let entry = EntryId { agent, seq: Seq::new(seq) };
            tracing::trace!(target: TARGET, step = HAND_OVER, %entry, since_us);
        }
    }
}

fn is_followed() -> bool {
    tracing::event_enabled!(target: TARGET, Level::TRACE)
}
