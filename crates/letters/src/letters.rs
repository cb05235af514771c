//! The parts of this stop, which all senders of a node share.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_bus::{Bell, Watchers};
use nightdesk_protocol::delivery::Millis;
use nightdesk_types::{Clock, StoreError, TenantScope};
use tokio_util::task::TaskTracker;

use crate::ids::millis;
use crate::metrics::Metrics;
use crate::outlet::Outlets;
use crate::receipt::{DeliveryRecord, Receipt};
use crate::store::{Receipts, Store};
use crate::writer::LetterWriter;

/// The letters of a node.
pub struct Letters {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The gathered calls of the store.
    pub(crate) writer: LetterWriter,
    /// Announces entries and replies.
    pub(crate) bell: Arc<dyn Bell>,
    /// The callers on this node that wait for replies.
    pub(crate) waits: Watchers,
    /// The ways of agents whose letters do not go through their inboxes.
    pub(crate) outlets: Outlets,
    /// Tells which letters are for later.
    pub(crate) clock: Arc<dyn Clock>,
    /// The counters.
    pub metrics: Metrics,
}

/// The parts of a node that its letters use.
pub struct LetterParts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Announces entries and replies.
    pub bell: Arc<dyn Bell>,
    /// The callers on this node that wait for replies.
    pub waits: Watchers,
    /// The ways of agents whose letters do not go through their inboxes.
    pub outlets: Outlets,
    /// Tells which letters are for later.
    pub clock: Arc<dyn Clock>,
}

impl Letters {
    /// Starts the writers over a store. They end when the letters are dropped.
    pub fn start(parts: LetterParts, tasks: &TaskTracker) -> Self {
        let LetterParts { store, bell, waits, outlets, clock } = parts;
        let writer = LetterWriter::start(&store, tasks);
        Self { store, writer, bell, waits, outlets, clock, metrics: Metrics::default() }
    }

    /// Returns the current time.
    pub fn now(&self) -> Millis {
        millis(&*self.clock)
    }
}

impl fmt::Debug for Letters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Letters")
    }
}

/// Stores receipts together with those of other senders.
#[async_trait]
impl Receipts for Letters {
    async fn store_receipts(&self, receipts: &[Receipt]) -> Result<(), StoreError> {
        for receipt in receipts {
            self.writer.store_receipt(receipt.clone()).await?;
        }
        Ok(())
    }

    async fn read_receipts(
        &self,
        scope: TenantScope,
        id: &str,
    ) -> Result<Vec<DeliveryRecord>, StoreError> {
        self.store.read_receipts(scope, id).await
    }
}
