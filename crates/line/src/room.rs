//! Room: what every line of a node shares.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_bus::Ears;
use nightdesk_inbox::Inbox;
use nightdesk_types::limits::DIALS_AT_ONCE_MAX;
use nightdesk_types::pace::Rate;
use nightdesk_types::{Clock, Moment, Node};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::admission::Admission;
use crate::desk::Desk;
use crate::failures::Failures;
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
    /// How often a gateway may say something, besides acks.
    pub frames: Rate,
    /// Who showed what nobody signed, at this or any other door.
    pub failures: Failures,
    /// What is counted.
    pub metrics: Metrics,
}

/// Who may ask the store about dials, [`DIALS_AT_ONCE_MAX`] at a time, and how many become lines.
#[derive(Debug)]
pub struct Dials {
    asking: Semaphore,
    admission: Admission,
}

impl Default for Dials {
    fn default() -> Self {
        let asking = Semaphore::new(DIALS_AT_ONCE_MAX);
        Self { asking, admission: Admission::default() }
    }
}

impl Dials {
    /// Asks the store about a dial when its turn has come.
    pub(crate) async fn in_turn<T>(&self, ask: impl Future<Output = T>) -> T {
        // Nobody closes it, so there is always a place to come.
        let _place = self.asking.acquire().await.ok();
        ask.await
    }

    /// How long a dial that came at `arrived` still waits for its place among the lines. None: it
    /// should come again.
    pub fn place(&self, arrived: Moment, now: Moment) -> Option<Duration> {
        self.admission.place(arrived, now)
    }
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Room")
    }
}
