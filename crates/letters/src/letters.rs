//! The parts of this stop, which all senders of a node share.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_bus::{Bell, Watchers};
use nightdesk_types::{StoreError, TenantScope};
use tokio_util::task::TaskTracker;

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
    /// The counters.
    pub metrics: Metrics,
}

impl Letters {
    /// Starts the writers over a store. They end when the letters are dropped.
    pub fn start(
        store: Arc<dyn Store>,
        bell: Arc<dyn Bell>,
        waits: Watchers,
        ways: Outlets,
        tasks: &TaskTracker,
    ) -> Self {
        let writer = LetterWriter::start(&store, tasks);
        Self { store, writer, bell, waits, outlets: ways, metrics: Metrics::default() }
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
