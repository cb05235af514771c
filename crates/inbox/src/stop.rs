//! The inbox: writers in front of the store.

use std::sync::Arc;

use async_trait::async_trait;
use fail::fail_point;
use nightdesk_gate::Admitted;
use nightdesk_types::limits::{SOURCE_REFUSED_WITHIN, WRITERS};
use nightdesk_types::{AgentId, BotId, Event, StoreError, TenantScope};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;

use crate::gather::{Batch, Gather, Writers};
use crate::metrics::Metrics;
use crate::recent::Recent;
use crate::store::{Ack, AckOf, Ask, Put, Store, Waiting};
use crate::{Accept, DedupeKey, SourceMark, trail};

/// Stores admitted events and returns them to the agent's line.
pub struct Inbox {
    store: Arc<dyn Store>,
    accepts: Writers<Accepts>,
    reads: Gather<Reads>,
    acks: Gather<Acks>,
    recent: Recent,
    metrics: Metrics,
}

nightdesk_types::opaque_debug!(Inbox);

impl Inbox {
    /// Starts the writers. They end when the inbox is dropped.
    pub fn start(store: Arc<dyn Store>, tasks: &TaskTracker) -> Self {
        let accepts = || Accepts(Arc::clone(&store));
        Self {
            accepts: Writers::start(WRITERS, accepts, "put an event", tasks),
            reads: Gather::start(Reads(Arc::clone(&store)), "read waiting entries", tasks),
            acks: Gather::start(Acks(Arc::clone(&store)), "ack entries", tasks),
            store,
            recent: Recent::new(),
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
        event: &Admitted<Event>,
        mark: Option<SourceMark>,
    ) -> Result<Put, StoreError> {
        let nothing = || Err(StoreError::broken("put an event", "the store returned no result"));
        self.put_in_order(vec![Accept::of(event, mark)]).await.pop().unwrap_or_else(nothing)
    }

    /// Stores several events of one source, in order. If one is not stored, all later ones are not stored either.
    pub async fn put_in_order(&self, accepts: Vec<Accept>) -> Vec<Result<Put, StoreError>> {
        let began = Instant::now();
        let Some(first) = accepts.first() else { return Vec::new() };
        let answers = self.writer_of(first).ask_in_order(accepts.clone());
        let until = began + SOURCE_REFUSED_WITHIN;
        let mut puts = Vec::with_capacity(accepts.len());
        for (accept, answer) in accepts.iter().zip(answers) {
            let put = timeout_at(until, answer)
                .await
                .unwrap_or_else(|late| Err(StoreError::unavailable("put an event", late)));
            self.followed(accept, &put, began);
            puts.push(put);
        }
        puts
    }

    /// Counts the result of an event, and caches the stored entries.
    fn followed(&self, accept: &Accept, put: &Result<Put, StoreError>, began: Instant) {
        self.metrics.put(put.as_ref().ok(), began.elapsed());
        if let Ok(Put::Stored(stored)) = put {
            trail::stored(trail::PUT, stored, began.elapsed());
            for stored in stored.iter().filter(|stored| !stored.parked) {
                self.recent.remember(accept, stored);
            }
        }
    }

    /// Returns the writer for an event, by hash of its agent. A source with a cursor has one writer for all its events:
    /// with two, a crash between their commits would lose the earlier event.
    fn writer_of(&self, accept: &Accept) -> &Gather<Accepts> {
        match &accept.mark {
            Some(mark) => self.accepts.queue_for((accept.bot, &mark.source)),
            None => self.accepts.queue_for(accept.recipients.first().map(|first| first.agent)),
        }
    }

    /// Returns the entries after the last one that the line has read.
    pub async fn waiting(&self, ask: Ask) -> Result<Waiting, StoreError> {
        if ask.after >= ask.taken_at {
            let run = self.recent.run_after(ask.line.agent, ask.after, ask.entries_max);
            if !run.is_empty() {
                return Ok(Waiting::Entries(run));
            }
        }
        self.reads.ask(ask).await
    }

    /// Moves a cursor, if its line is still the agent's newest.
    pub async fn ack(&self, ack: AckOf) -> Result<Ack, StoreError> {
        let (entries, followed) = (ack.entries(), trail::of_acks(&ack));
        let acked = self.acks.ask(ack).await?;
        if let Ack::Moved(_) = acked {
            self.metrics.acked(entries);
            followed.iter().for_each(trail::acked);
        }
        Ok(acked)
    }
}

struct Accepts(Arc<dyn Store>);

#[async_trait]
impl Batch for Accepts {
    type Ask = Accept;
    type Answer = Put;
    type Key = (TenantScope, DedupeKey);
    type Stream = (BotId, String);
    type Share = Share;

    async fn run(&self, events: &[Accept]) -> Result<Vec<Put>, StoreError> {
        fail_point!("inbox::before_accept");
        let put = self.0.accept(events).await;
        fail_point!("inbox::stored_before_answer");
        put
    }

    fn key(event: &Accept) -> Self::Key {
        (event.operator, event.key)
    }

    fn stream(event: &Accept) -> Option<Self::Stream> {
        event.mark.as_ref().map(|mark| (event.bot, mark.source.clone()))
    }

    fn holds_back(put: &Put) -> bool {
        *put == Put::Stale
    }

    fn share(event: &Accept) -> Share {
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

struct Reads(Arc<dyn Store>);

#[async_trait]
impl Batch for Reads {
    type Ask = Ask;
    type Answer = Waiting;
    type Key = AgentId;
    type Stream = AgentId;
    type Share = TenantScope;

    async fn run(&self, asks: &[Ask]) -> Result<Vec<Waiting>, StoreError> {
        self.0.waiting(asks).await
    }

    fn key(ask: &Ask) -> AgentId {
        ask.line.agent
    }

    fn share(ask: &Ask) -> TenantScope {
        ask.line.scope
    }
}

struct Acks(Arc<dyn Store>);

#[async_trait]
impl Batch for Acks {
    type Ask = AckOf;
    type Answer = Ack;
    type Key = AgentId;
    type Stream = AgentId;
    type Share = TenantScope;

    async fn run(&self, acks: &[AckOf]) -> Result<Vec<Ack>, StoreError> {
        self.0.ack(acks).await
    }

    fn key(ack: &AckOf) -> AgentId {
        ack.line.agent
    }

    fn share(ack: &AckOf) -> TenantScope {
        ack.line.scope
    }
}
