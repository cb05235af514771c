//! Acks on their way to the store: at most one write at a time, the rest gathers behind it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use nightdesk_inbox::{Ack, AckOf, AckRange, Inbox, LineClaim};
use nightdesk_types::StoreError;
use tokio::time::{sleep, timeout};

/// An ack that could not be written is written again after this.
const ACK_AGAIN: Duration = Duration::from_secs(1);

type Write = BoxFuture<'static, Result<Ack, StoreError>>;

/// What a line's agent acknowledged and the store does not know yet.
#[derive(Default)]
pub(crate) struct Acks {
    pending: Vec<AckRange>,
    writing: Option<(Vec<AckRange>, Write)>,
}

impl Acks {
    /// Adds what was acknowledged.
    pub(crate) fn add(&mut self, range: AckRange) {
        match self.pending.last_mut() {
            Some(last) if last.to.next() == range.from => {
                last.to = range.to;
                last.at = range.at;
            }
            _ => self.pending.push(range),
        }
    }

    /// Begins to write, if there is something to write and nothing on its way.
    pub(crate) fn begin(&mut self, inbox: &Arc<Inbox>, line: LineClaim) {
        if self.writing.is_none() && !self.pending.is_empty() {
            let ranges = std::mem::take(&mut self.pending);
            let ack = AckOf { line, ranges: ranges.clone() };
            self.writing = Some((ranges, Box::pin(write(Arc::clone(inbox), ack))));
        }
    }

    /// Waits for the write on its way; for ever if there is none. Answers what came of it; a
    /// failed one is back among the pending. It may be dropped while it waits.
    pub(crate) async fn written(&mut self) -> Option<Ack> {
        let Some((_, write)) = &mut self.writing else { return std::future::pending().await };
        let written = write.await;
        let ranges = self.writing.take().map(|(ranges, _)| ranges).unwrap_or_default();
        if let Ok(ack) = written {
            return Some(ack);
        }
        self.pending.splice(0..0, ranges);
        None
    }

    /// Writes what is left before the line ends, if that can be done in time. What cannot
    /// comes again on the next line.
    pub(crate) async fn flush(&mut self, inbox: &Arc<Inbox>, line: LineClaim, wait: Duration) {
        let all = async {
            while self.writing.is_some() || !self.pending.is_empty() {
                self.begin(inbox, line);
                if self.written().await == Some(Ack::LineReplaced) {
                    return;
                }
            }
        };
        drop(timeout(wait, all).await);
    }
}

/// Writes once. A failure is told after a pause, so that it is not repeated at once.
async fn write(inbox: Arc<Inbox>, ack: AckOf) -> Result<Ack, StoreError> {
    let written = inbox.ack(ack).await;
    if written.is_err() {
        sleep(ACK_AGAIN).await;
    }
    written
}
