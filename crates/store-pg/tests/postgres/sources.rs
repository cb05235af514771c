//! X22: a source with a cursor has one writer; otherwise a crash between the commits of two writers loses the earlier
//! event.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_gate::Gate;
use nightdesk_inbox::{
    AcceptRequest, AckOutcome, AckRequest, Inbox, LineClaim, ParkOutcome, ParkReason, PutOutcome,
    QuarantinedEvent, ReadRequest, ReadResponse, SourceCursor, Store,
};
use nightdesk_store_pg::Pg;
use nightdesk_testkit::builders::{EventBuilder, event};
use nightdesk_types::{AgentId, BotId, NodeEpoch, Seq, StoreError, TenantScope};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::planted::{People, Person};
use crate::suites::{Postgres, postgres};

/// The store, except that a batch for one agent never commits: there the node dies.
struct DiesOn {
    store: Arc<Pg>,
    agent: AgentId,
}

#[async_trait]
impl Store for DiesOn {
    async fn accept(&self, events: &[AcceptRequest]) -> Result<Vec<PutOutcome>, StoreError> {
        let mut recipients = events.iter().flat_map(AcceptRequest::recipients);
        if recipients.any(|recipient| recipient.agent == self.agent) {
            return std::future::pending().await;
        }
        self.store.accept(events).await
    }

    async fn read_waiting(&self, asks: &[ReadRequest]) -> Result<Vec<ReadResponse>, StoreError> {
        self.store.read_waiting(asks).await
    }

    async fn ack(&self, acks: &[AckRequest]) -> Result<Vec<AckOutcome>, StoreError> {
        Store::ack(&*self.store, acks).await
    }

    async fn park(
        &self,
        line: &LineClaim,
        seq: Seq,
        why: ParkReason,
    ) -> Result<ParkOutcome, StoreError> {
        self.store.park(line, seq, why).await
    }

    async fn read_heads(&self, agents: &[(TenantScope, AgentId)]) -> Result<Vec<Seq>, StoreError> {
        self.store.read_heads(agents).await
    }

    async fn take_source(
        &self,
        operator: TenantScope,
        bot: BotId,
        source: &str,
    ) -> Result<(NodeEpoch, Option<String>), StoreError> {
        self.store.take_source(operator, bot, source).await
    }

    async fn move_cursor(
        &self,
        operator: TenantScope,
        bot: BotId,
        mark: &SourceCursor,
    ) -> Result<bool, StoreError> {
        self.store.move_cursor(operator, bot, mark).await
    }

    async fn quarantine(&self, unreadable: &QuarantinedEvent) -> Result<(), StoreError> {
        self.store.quarantine(unreadable).await
    }
}

const SOURCE: &str = "shard-0";

fn said_by(person: &Person) -> EventBuilder {
    event().from(&person.author).keyed(&person.author)
}

/// Puts one event of a source for each person; the node dies on the first. Its next life resumes at the cursor. Returns
/// the number of events that are then in no inbox.
async fn lost_over_a_crash(postgres: &Postgres) -> usize {
    let people = People::of(postgres, 8).await;
    let store = &postgres.store;
    let gate = Gate::new(Arc::<Pg>::clone(store));
    let dies = DiesOn { store: Arc::clone(store), agent: people.people[0].agent };
    let inbox = Inbox::start(Arc::new(dies), &TaskTracker::new());
    let operator = people.bot.operator;
    let (epoch, _) = store.take_source(operator, people.bot.id, SOURCE).await.expect("take");
    let mut puts = Vec::new();
    for (number, person) in people.people.iter().enumerate() {
        let admitted = said_by(person).admitted(&people.bot, &gate).await.expect("admitted");
        let mark =
            SourceCursor { source: SOURCE.to_owned(), epoch, cursor: (number + 1).to_string() };
        let inbox = &inbox;
        puts.push(async move { inbox.put(&admitted, Some(mark)).await });
    }
    drop(timeout(Duration::from_secs(1), futures_util::future::join_all(puts)).await);

    let (_, cursor) = store.take_source(operator, people.bot.id, SOURCE).await.expect("take");
    let read: usize = cursor.map_or(0, |cursor| cursor.parse().expect("a number"));
    for person in &people.people[read..] {
        people.put(store, &said_by(person)).await;
    }
    let stored: i64 = sqlx::query_scalar("select count(*) from inbox_entries")
        .fetch_one(&mut postgres.database.admin().await)
        .await
        .expect("count");
    people.people.len() - usize::try_from(stored).expect("a count")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_crash_loses_nothing_of_a_source() {
    assert_eq!(lost_over_a_crash(&postgres().await).await, 0);
}
