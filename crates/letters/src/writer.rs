//! Gathers the store calls of concurrent senders, so that many letters share a transaction.

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_inbox::batch::{Batch, BatchQueue, Writers};
use nightdesk_types::limits::{CONNECTOR_WAIT, LETTER_WRITERS};
use nightdesk_types::{AgentId, LetterId, StoreError, TenantScope};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::letter::{AddressFacts, AddressQuery, Posting, PostingOutcome};
use crate::receipt::Receipt;
use crate::store::Store;

/// Looks addresses up, puts letters and stores receipts, in gathered batches.
#[derive(Debug)]
pub(crate) struct LetterWriter {
    addresses: BatchQueue<Addresses>,
    postings: Writers<Postings>,
    receipts: BatchQueue<ReceiptBatch>,
}

impl LetterWriter {
    /// Starts the workers. They end when the writer is dropped.
    pub(crate) fn start(store: &Arc<dyn Store>, tasks: &TaskTracker) -> Self {
        let postings = || Postings(Arc::clone(store));
        Self {
            addresses: BatchQueue::start(Addresses(Arc::clone(store)), "look up an address", tasks),
            postings: Writers::start(LETTER_WRITERS, postings, "put a letter", tasks),
            receipts: BatchQueue::start(ReceiptBatch(Arc::clone(store)), "store a receipt", tasks),
        }
    }

    /// Returns the facts about an address.
    pub(crate) async fn resolve_address(
        &self,
        query: AddressQuery,
    ) -> Result<AddressFacts, StoreError> {
        with_timeout("look up an address", self.addresses.send_request(query)).await
    }

    /// Puts a letter. A sender that stops waiting may send it again: the dispatch id makes it the same letter. Letters
    /// to one agent share a writer, so two batches seldom wait for one inbox.
    pub(crate) async fn put(&self, posting: Posting) -> Result<PostingOutcome, StoreError> {
        let writer = self.postings.queue_for(posting.letter.to.agent);
        with_timeout("put a letter", writer.send_request(posting)).await
    }

    /// Stores a receipt.
    pub(crate) async fn store_receipt(&self, receipt: Receipt) -> Result<(), StoreError> {
        with_timeout("store a receipt", self.receipts.send_request(receipt)).await
    }
}

async fn with_timeout<T>(
    operation: &'static str,
    asked: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let late = |late| Err(StoreError::unavailable(operation, late));
    timeout(CONNECTOR_WAIT, asked).await.unwrap_or_else(late)
}

struct Addresses(Arc<dyn Store>);

#[async_trait]
impl Batch for Addresses {
    type Ask = AddressQuery;
    type Answer = AddressFacts;
    type Key = AddressQuery;
    type Stream = AgentId;
    type WriterShare = TenantScope;

    async fn run(&self, queries: &[AddressQuery]) -> Result<Vec<AddressFacts>, StoreError> {
        self.0.resolve_addresses(queries).await
    }

    fn key(query: &AddressQuery) -> AddressQuery {
        query.clone()
    }

    fn share(query: &AddressQuery) -> TenantScope {
        query.from.scope
    }
}

struct Postings(Arc<dyn Store>);

#[async_trait]
impl Batch for Postings {
    type Ask = Posting;
    type Answer = PostingOutcome;
    type Key = LetterId;
    type Stream = AgentId;
    type WriterShare = TenantScope;

    async fn run(&self, postings: &[Posting]) -> Result<Vec<PostingOutcome>, StoreError> {
        self.0.put(postings).await
    }

    fn key(posting: &Posting) -> LetterId {
        posting.letter.id
    }

    fn share(posting: &Posting) -> TenantScope {
        posting.letter.from.scope
    }
}

struct ReceiptBatch(Arc<dyn Store>);

#[async_trait]
impl Batch for ReceiptBatch {
    type Ask = Receipt;
    type Answer = ();
    /// The primary key of a receipt: one statement cannot replace a row twice.
    type Key = (TenantScope, String, String, String);
    type Stream = AgentId;
    type WriterShare = TenantScope;

    async fn run(&self, receipts: &[Receipt]) -> Result<Vec<()>, StoreError> {
        self.0.store_receipts(receipts).await?;
        Ok(vec![(); receipts.len()])
    }

    fn key(Receipt { scope, record }: &Receipt) -> Self::Key {
        let (dispatch_id, connector) = (record.dispatch_id.clone(), record.connector.clone());
        (*scope, dispatch_id, connector, record.address.clone())
    }

    fn share(receipt: &Receipt) -> TenantScope {
        receipt.scope
    }
}
