//! Acks that are being written: at most one write runs, and the rest collects behind it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use nightdesk_inbox::{AckOutcome, AckRange, AckRequest, Inbox, LineClaim};
use nightdesk_types::StoreError;
use tokio::time::{sleep, timeout};

/// Retry delay of a failed write.
const ACK_AGAIN: Duration = Duration::from_secs(1);

type Write = BoxFuture<'static, Result<AckOutcome, StoreError>>;

/// A write that ended.
#[derive(Debug)]
pub(crate) struct WrittenAcks {
    /// The store's answer.
    pub(crate) outcome: AckOutcome,
    /// The acks that were written.
    pub(crate) ranges: Vec<AckRange>,
}

/// Acks of a line's agent that the store does not have yet.
#[derive(Default)]
pub(crate) struct Acks {
    pending: Vec<AckRange>,
    writing: Option<(Vec<AckRange>, Write)>,
}

impl Acks {
    /// Adds a range of acknowledged entries.
    pub(crate) fn add(&mut self, range: AckRange) {
        match self.pending.last_mut() {
            Some(last) if last.to.next() == range.from => {
                last.to = range.to;
                last.at = range.at;
            }
            _ => self.pending.push(range),
        }
    }

    /// Starts a write, if acks are pending and no write runs.
    pub(crate) fn begin_write(&mut self, inbox: &Arc<Inbox>, line: LineClaim) {
        if self.writing.is_none() && !self.pending.is_empty() {
            let ranges = std::mem::take(&mut self.pending);
            let ack = AckRequest { line, ranges: ranges.clone() };
            self.writing = Some((ranges, Box::pin(write_once(Arc::clone(inbox), ack))));
        }
    }

    /// Waits for the running write, or for ever if there is none, and returns its result. The acks of a failed write
    /// become pending again. The future is cancel-safe.
    pub(crate) async fn wait_for_write(&mut self) -> Option<WrittenAcks> {
        let Some((_, write)) = &mut self.writing else { return std::future::pending().await };
        let written = write.await;
        let ranges = self.writing.take().map(|(ranges, _)| ranges).unwrap_or_default();
        if let Ok(outcome) = written {
            return Some(WrittenAcks { outcome, ranges });
        }
        self.pending.splice(0..0, ranges);
        None
    }

    /// Writes the remaining acks before the line ends, within `wait`. Entries whose acks are not written are delivered
    /// again on the next line.
    pub(crate) async fn flush(&mut self, inbox: &Arc<Inbox>, line: LineClaim, wait: Duration) {
        let all = async {
            while self.writing.is_some() || !self.pending.is_empty() {
                self.begin_write(inbox, line);
                let written = self.wait_for_write().await;
                if written.is_some_and(|one| !matches!(one.outcome, AckOutcome::Moved(_))) {
                    return;
                }
            }
        };
        drop(timeout(wait, all).await);
    }
}

/// Writes once. A failure returns after a pause, so that the caller does not retry at once.
async fn write_once(inbox: Arc<Inbox>, ack: AckRequest) -> Result<AckOutcome, StoreError> {
    let written = inbox.ack(ack).await;
    if written.is_err() {
        sleep(ACK_AGAIN).await;
    }
    written
}
