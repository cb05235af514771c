//! The inbox: writers in front of the store.

use std::sync::Arc;

use async_trait::async_trait;
use fail::fail_point;
use nightdesk_gate::AdmittedEvent;
use nightdesk_types::limits::{SOURCE_REFUSED_WITHIN, WRITERS};
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;

use crate::batch::{Batch, BatchQueue, Writers};
use crate::metrics::Metrics;
use crate::recent::RecentEntries;
use crate::store::{AckOutcome, AckRequest, PutOutcome, ReadRequest, ReadResponse, Store};
use crate::{AcceptRequest, DedupeKey, SourceCursor, trail};

/// Stores admitted events and returns them to the agent's line.
pub struct Inbox {
    store: Arc<dyn Store>,
    accepts: Writers<AcceptBatch>,
    reads: BatchQueue<ReadBatch>,
    acks: BatchQueue<AckBatch>,
    recent: RecentEntries,
    metrics: Metrics,
}

nightdesk_types::opaque_debug!(Inbox);

impl Inbox {
    /// Starts the writers. They end when the inbox is dropped.
    pub fn start(store: Arc<dyn Store>, tasks: &TaskTracker) -> Self {
        let accepts = || AcceptBatch(Arc::clone(&store));
        Self {
            accepts: Writers::start(WRITERS, accepts, "put an event", tasks),
            reads: BatchQueue::start(ReadBatch(Arc::clone(&store)), "read waiting entries", tasks),
            acks: BatchQueue::start(AckBatch(Arc::clone(&store)), "ack entries", tasks),
            store,
            recent: RecentEntries::new(),
            metrics: Metrics::default(),
        }
    }

    /// Returns the metrics.
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the store, for operations that are not batched.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Stores an admitted event for each of its recipients, once.
    ///
    /// The response comes after the commit, or within [`SOURCE_REFUSED_WITHIN`] as an error. If a response is lost and
    /// the event is put again, its key identifies it as a duplicate.
    pub async fn put(
        &self,
        event: &AdmittedEvent,
        mark: Option<SourceCursor>,
    ) -> Result<PutOutcome, StoreError> {
        let nothing = || Err(StoreError::broken("put an event", "the store returned no result"));
        self.put_in_order(vec![AcceptRequest::from_event(event, mark)])
            .await
            .pop()
            .unwrap_or_else(nothing)
    }

    /// Stores several events of one source, in order. If one is not stored, all later ones are not stored either.
    pub async fn put_in_order(
        &self,
        accepts: Vec<AcceptRequest>,
    ) -> Vec<Result<PutOutcome, StoreError>> {
        let began = Instant::now();
        let Some(first) = accepts.first() else { return Vec::new() };
        let answers = self.writer_for(first).send_in_order(accepts.clone());
        let until = began + SOURCE_REFUSED_WITHIN;
        let mut puts = Vec::with_capacity(accepts.len());
        for (accept, answer) in accepts.iter().zip(answers) {
            let put = timeout_at(until, answer)
                .await
                .unwrap_or_else(|late| Err(StoreError::unavailable("put an event", late)));
            self.record_put(accept, &put, began);
            puts.push(put);
        }
        puts
    }

    /// Counts the result of an event, and caches the stored entries.
    fn record_put(
        &self,
        accept: &AcceptRequest,
        put: &Result<PutOutcome, StoreError>,
        began: Instant,
    ) {
        self.metrics.count_put(put.as_ref().ok(), began.elapsed());
        if let Ok(PutOutcome::Stored(stored)) = put {
            self.metrics.count_stored(accept);
            trail::trace_stored(trail::PUT, stored, began.elapsed());
            for stored in stored.iter().filter(|stored| !stored.parked) {
                self.recent.remember(accept, stored);
            }
        }
    }

    /// Returns the writer for an event, by hash of its agent. A source with a cursor has one writer for all its events:
    /// with two, a crash between their commits would lose the earlier event.
    fn writer_for(&self, accept: &AcceptRequest) -> &BatchQueue<AcceptBatch> {
        match &accept.mark {
            Some(mark) => self.accepts.queue_for((accept.bot, &mark.source)),
            None => self.accepts.queue_for(accept.recipients.first().map(|first| first.agent)),
        }
    }

    /// Returns the entries after the last one that the line has read.
    pub async fn read_waiting(&self, ask: ReadRequest) -> Result<ReadResponse, StoreError> {
        if ask.after >= ask.taken_at {
            let run = self.recent.run_after(&ask.line, ask.after, ask.entries_max);
            if !run.is_empty() {
                return Ok(ReadResponse::Entries(run));
            }
        }
        self.reads.send_request(ask).await
    }

    /// Moves a cursor, if its line is still the agent's newest.
    pub async fn ack(&self, ack: AckRequest) -> Result<AckOutcome, StoreError> {
        let (entries, followed) = (ack.entry_count(), trail::acks_to_trace(&ack));
        let agent = ack.line.agent;
        let acked = self.acks.send_request(ack).await?;
        match acked {
            AckOutcome::Moved(_) => {
                self.metrics.count_acked(entries);
                followed.iter().for_each(trail::trace_acked);
            }
            AckOutcome::BeyondHead => tracing::error!(
                agent.id = %agent,
                "agent {agent} acknowledged an entry that the database does not have: the database lost commits; \
                 the agent's line begins again"
            ),
            AckOutcome::LineReplaced | AckOutcome::HistoryChanged => {}
        }
        Ok(acked)
    }
}

struct AcceptBatch(Arc<dyn Store>);

#[async_trait]
impl Batch for AcceptBatch {
    type Ask = AcceptRequest;
    type Answer = PutOutcome;
    type Key = (TenantScope, DedupeKey);
    type Stream = (BotId, String);
    type WriterShare = Share;

    async fn run(&self, events: &[AcceptRequest]) -> Result<Vec<PutOutcome>, StoreError> {
        fail_point!("inbox::before_accept");
        let put = self.0.accept(events).await;
        fail_point!("inbox::stored_before_answer");
        put
    }

    fn key(event: &AcceptRequest) -> Self::Key {
        (event.operator, event.key)
    }

    fn stream(event: &AcceptRequest) -> Option<Self::Stream> {
        event.mark.as_ref().map(|mark| (event.bot, mark.source.clone()))
    }

    fn holds_back(put: &PutOutcome) -> bool {
        *put == PutOutcome::Stale
    }

    fn share(event: &AcceptRequest) -> Share {
        let recipient = event.recipients.first().map(|first| first.scope);
        let of_tenant = || Share::Tenant(recipient.unwrap_or(event.operator));
        Self::stream(event).map_or_else(of_tenant, |(bot, source)| Share::Source(bot, source))
    }
}

/// The owner of a turn at a writer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Share {
    /// The tenant of the recipients.
    Tenant(TenantScope),
    /// A source whose order counts, for all its recipients.
    Source(BotId, String),
}

struct ReadBatch(Arc<dyn Store>);

#[async_trait]
impl Batch for ReadBatch {
    type Ask = ReadRequest;
    type Answer = ReadResponse;
    type Key = AgentId;
    type Stream = AgentId;
    type WriterShare = TenantScope;

    async fn run(&self, asks: &[ReadRequest]) -> Result<Vec<ReadResponse>, StoreError> {
        self.0.read_waiting(asks).await
    }

    fn key(ask: &ReadRequest) -> AgentId {
        ask.line.agent
    }

    fn share(ask: &ReadRequest) -> TenantScope {
        ask.line.scope
    }
}

struct AckBatch(Arc<dyn Store>);

#[async_trait]
impl Batch for AckBatch {
    type Ask = AckRequest;
    type Answer = AckOutcome;
    type Key = AgentId;
    type Stream = AgentId;
    type WriterShare = TenantScope;

    async fn run(&self, acks: &[AckRequest]) -> Result<Vec<AckOutcome>, StoreError> {
        self.0.ack(acks).await
    }

    fn key(ack: &AckRequest) -> AgentId {
        ack.line.agent
    }

    fn share(ack: &AckRequest) -> TenantScope {
        ack.line.scope
    }
}
