//! Records the end of a line, also if the store is down at that time.
//!
//! Until the end is recorded, the agent appears to be connected, and the desk does not call it.

use std::time::Duration;

use nightdesk_bus::LineRegistry;
use nightdesk_inbox::LineClaim;
use nightdesk_types::Node;
use nightdesk_types::limits::LINE_END_TRIES_MAX;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::store::{AuthenticatedGateway, CloseRecord, HeldLine, Store};

/// Retries recording the end of a line until the node stops. A stopping node ends its lines anyway.
pub(crate) async fn retry_recording_end(
    store: &dyn Store,
    line: &LineClaim,
    end: CloseRecord,
    again: Duration,
    drain: &CancellationToken,
) {
    // The failed write may have been committed, and then the try was counted.
    let end = CloseRecord { tried: None, ..end };
    for _ in 0..LINE_END_TRIES_MAX {
        if drain.run_until_cancelled(sleep(again)).await.is_none()
            || store.close(line, end).await.is_ok()
        {
            return;
        }
    }
}

/// A line that was to be taken. The store did not answer, so its number is unknown, and it may be open.
#[derive(Clone, Copy)]
pub(crate) struct LostLine<'a> {
    pub(crate) caller: &'a AuthenticatedGateway,
    /// This node, and the lines that it holds.
    pub(crate) node: &'a Node,
    pub(crate) lines: &'a LineRegistry,
}

impl LostLine<'_> {
    /// Returns true if no part of this node holds the line although the store says so.
    fn may_be(&self, line: &HeldLine) -> bool {
        (&line.node, line.gateway) == (self.node, self.caller.gateway)
            && self.lines.generation(self.caller.agent) != Some(line.claim.generation)
    }
}

/// Ends a lost line. A line of the same gateway that is being taken now looks alike, so a line is lost if it does so
/// twice.
pub(crate) async fn end_lost_line(
    store: &dyn Store,
    lost: LostLine<'_>,
    end: CloseRecord,
    again: Duration,
    drain: &CancellationToken,
) {
    let AuthenticatedGateway { scope, agent, .. } = *lost.caller;
    let mut seen = None;
    for _ in 0..LINE_END_TRIES_MAX {
        if drain.run_until_cancelled(sleep(again)).await.is_none() {
            return;
        }
        let Ok(found) = store.find_held_line(scope, agent).await else { continue };
        let Some(line) = found.filter(|line| lost.may_be(line)) else { return };
        if seen.replace(line.claim) == Some(line.claim)
            && store.close(&line.claim, end).await.is_ok()
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
