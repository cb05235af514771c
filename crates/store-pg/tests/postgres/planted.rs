//! Planted bugs: each check passes on the shipped code and fails on the bug.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_gate::Gate;
use nightdesk_inbox::{AcceptRequest, LineClaim, PutOutcome, ReadRequest, ReadResponse, Store};
use nightdesk_line::{AuthenticatedGateway, LineStart, Store as _};
use nightdesk_port::Bot;
use nightdesk_register::{AgentOnBot, Gateways, IdentityStore, NewBot, NewSecret, Reaching};
use nightdesk_store_pg::Pg;
use nightdesk_testkit::builders::{self, EventBuilder, event};
use nightdesk_testkit::first_data_key;
use nightdesk_types::{
    AgentId, DataKeyId, GatewayId, Node, NodeEpoch, Seq, TenantId, TenantScope, Timestamp,
};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::server::{Database, run};
use crate::suites::{Postgres, postgres, web_socket};

/// A person with an agent in their own tenant.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) author: String,
    pub(crate) scope: TenantScope,
    pub(crate) agent: AgentId,
    pub(crate) gateway: GatewayId,
}

/// A bot and the people bound on it.
pub(crate) struct People {
    pub(crate) bot: Bot,
    pub(crate) people: Vec<Person>,
}

impl People {
    /// Inserts this number of people.
    pub(crate) async fn of(postgres: &Postgres, count: usize) -> Self {
        let store = &postgres.store;
        let operator = tenant(store, 0).await;
        let id = Uuid::from_u128(1);
        let new = NewBot {
            id,
            platform: "discord".to_owned(),
            adapter: "scripted".to_owned(),
            handle: "bot".to_owned(),
            path: "path".to_owned(),
            settings: serde_json::json!({}),
            sealed: None,
        };
        let bot = store.create_bot(operator, &new).await.expect("enter a bot");
        let mut people = Vec::new();
        for number in 1..=count {
            people.push(person(store, bot, number).await);
        }
        Self { bot: builders::bot(bot, operator), people }
    }

    /// Puts an event through the gate into the inbox.
    pub(crate) async fn put(&self, store: &Arc<Pg>, event: &EventBuilder) -> PutOutcome {
        let accept = self.accept(store, event).await;
        store.accept(&[accept]).await.expect("put").pop().expect("an answer")
    }

    /// Returns an admitted event, ready to be written.
    pub(crate) async fn accept(&self, store: &Arc<Pg>, event: &EventBuilder) -> AcceptRequest {
        let gate = Gate::new(Arc::<Pg>::clone(store));
        AcceptRequest::from_event(&event.admitted(&self.bot, &gate).await.expect("admitted"), None)
    }
}

async fn tenant(store: &Pg, number: usize) -> TenantScope {
    let id = TenantId::from_uuid(Uuid::from_u128(1_000 + number as u128));
    let name = format!("tenant {number}");
    let scope = TenantScope::for_tenant(id);
    store.create_tenant(scope, &name, &first_data_key(id)).await.expect("enter a tenant");
    scope
}

async fn person(store: &Pg, bot: nightdesk_types::BotId, number: usize) -> Person {
    let scope = tenant(store, number).await;
    let agent = store.create_agent(scope, "agent").await.expect("enter an agent");
    let author = format!("author-{number}");
    store.bind(AgentOnBot { scope, agent, bot }, &author).await.expect("bind");
    let secret = NewSecret { id: Uuid::from_u128(1), sealed: vec![0], key: DataKeyId::new(1) };
    let gateway = store.create_gateway(scope, agent, "gw", &secret).await.expect("enter a gateway");
    Person { author, scope, agent, gateway }
}

/// Replaces parts of a function. Each part must exist.
pub(crate) async fn replace_in_function(
    database: &Database,
    function: &str,
    parts: &[(&str, &str)],
) {
    let mut admin = database.admin().await;
    let definition = AssertSqlSafe(format!("select pg_get_functiondef('{function}'::regproc)"));
    let mut sql: String =
        sqlx::query_scalar(definition).fetch_one(&mut admin).await.expect("read the function");
    for (from, to) in parts {
        assert!(sql.contains(from), "{function} has no `{from}`");
        sql = sql.replace(from, to);
    }
    run(&mut admin, &sql).await;
}

/// Returns the text of a mutant in SQL.
macro_rules! mutant {
    ($name:literal) => {
        include_str!(concat!("../../../../testing/mutants/", $name, ".sql"))
    };
}

/// Plants a mutant in a database.
async fn mutate(database: &Database, mutant: &str) {
    let replace = include_str!("../../../../testing/mutants/replace_in_function.sql");
    run(&mut database.admin().await, &[replace, mutant].concat()).await;
}

/// Reads like a client that follows its cursor: reads, moves on, and never reads earlier entries again.
async fn follow(store: &Arc<Pg>, person: &Person, entries: usize) -> Vec<i64> {
    let Person { scope, agent, gateway, .. } = *person;
    let caller = AuthenticatedGateway { scope, agent, gateway, acks: true };
    let node = Node { name: "n".to_owned(), epoch: NodeEpoch::new(1) };
    let taken = store.take(web_socket(&caller, &node)).await.expect("take a line");
    let LineStart { incarnation, generation, .. } = taken;
    let line = LineClaim { scope, agent, incarnation, generation };
    let (mut seen, mut after) = (Vec::new(), taken.acked);
    for _ in 0..100 {
        let ask = ReadRequest {
            line,
            after,
            since: Timestamp::UNIX_EPOCH,
            entries_max: 12,
            taken_at: Seq::new(0),
        };
        let answers = store.read_waiting(&[ask]).await.expect("read");
        let [ReadResponse::Entries(found)] = &answers[..] else { unreachable!("the newest line") };
        after = found.last().map_or(after, |entry| entry.seq);
        seen.extend(found.iter().map(|entry| entry.seq.get()));
        if seen.len() == entries {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    seen
}

/// X3: runs an accept that takes its number early and commits late, concurrent accepts, and a reader that follows.
/// Returns the number of entries that the reader missed.
async fn missed_by_a_reader(postgres: &Postgres) -> usize {
    const EVENTS: usize = 8;
    let people = People::of(postgres, 1).await;
    let person = &people.people[0];
    let store = &postgres.store;
    let said = |number: usize| event().from(&person.author).keyed(format!("k{number}"));
    let late = [people.accept(store, &said(0).in_chat("late")).await];
    let mut others = Vec::new();
    for number in 1..EVENTS {
        others.push(people.accept(store, &said(number)).await);
    }
    let first = store.accept(&late);
    let rest = async {
        wait_for_a_stall(&postgres.database).await;
        store.accept(&others).await
    };
    let (first, rest, seen) = tokio::join!(first, rest, follow(store, person, EVENTS));
    assert!(first.is_ok() && rest.is_ok(), "all were reported as stored");
    EVENTS - seen.len()
}

/// Waits until the late accept stalls, or for the same time if it does not.
pub(crate) async fn wait_for_a_stall(database: &Database) {
    let mut admin = database.admin().await;
    for _ in 0..20 {
        let stalls: bool = sqlx::query_scalar(
            "select exists (select from pg_stat_activity
             where datname = current_database() and wait_event = 'PgSleep')",
        )
        .fetch_one(&mut admin)
        .await
        .expect("look at who waits");
        if stalls {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_misses_nothing() {
    assert_eq!(missed_by_a_reader(&postgres().await).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn with_a_sequence_for_a_cursor_a_reader_misses_entries() {
    let postgres = postgres().await;
    mutate(&postgres.database, mutant!("03-entries-are-numbered-by-a-sequence")).await;
    let late_accept = (
        "pg_sleep(0.05) where cardinality(r_event) > cardinality(e_bot)",
        "pg_sleep(0.25) where 'late' = any (e_chat)",
    );
    replace_in_function(&postgres.database, "inbox_store", &[late_accept]).await;

    assert!(missed_by_a_reader(&postgres).await > 0, "X3 must be seen");
}

/// X4: puts events of one bot in any order. Returns the number of those reported as duplicates.
async fn taken_for_duplicates(postgres: &Postgres) -> usize {
    let people = People::of(postgres, 1).await;
    let mut duplicates = 0;
    for number in 0..20 {
        let event = event().from(&people.people[0].author).keyed(format!("k{number}"));
        duplicates +=
            usize::from(people.put(&postgres.store, &event).await == PutOutcome::Duplicate);
    }
    duplicates
}

#[tokio::test]
async fn new_events_are_new_in_any_order() {
    assert_eq!(taken_for_duplicates(&postgres().await).await, 0);
}

#[tokio::test]
async fn with_a_high_water_mark_lower_events_are_dropped() {
    let postgres = postgres().await;
    mutate(&postgres.database, mutant!("04-a-later-event-makes-earlier-ones-duplicates")).await;

    assert!(taken_for_duplicates(&postgres).await > 0, "X4 must be seen");
}

/// X19: gives the agents of two tenants one entry each. Returns the number of foreign entries that one agent reads.
async fn foreign_entries_read(postgres: &Postgres) -> usize {
    let people = People::of(postgres, 2).await;
    for person in &people.people {
        people.put(&postgres.store, &event().from(&person.author).keyed(&person.author)).await;
    }
    follow(&postgres.store, &people.people[0], 2).await.len().saturating_sub(1)
}

#[tokio::test]
async fn nobody_reads_a_foreign_entry() {
    assert_eq!(foreign_entries_read(&postgres().await).await, 0);
}

#[tokio::test]
async fn a_forgotten_where_still_stands_before_the_wall() {
    let postgres = postgres().await;
    let forgotten = ("i.tenant_id = a.tenant and i.agent_id = a.agent", "true");
    replace_in_function(&postgres.database, "inbox_waiting", &[forgotten]).await;

    assert_eq!(foreign_entries_read(&postgres).await, 0);
}

#[tokio::test]
async fn without_the_wall_a_forgotten_where_shows_foreign_entries() {
    let postgres = postgres().await;
    let forgotten = ("i.tenant_id = a.tenant and i.agent_id = a.agent", "true");
    replace_in_function(&postgres.database, "inbox_waiting", &[forgotten]).await;
    let open = "alter table inbox_entries disable row level security";
    run(&mut postgres.database.admin().await, open).await;

    assert!(
        foreign_entries_read(&postgres).await > 0,
        "it must be seen, although it does not open"
    );
}

/// X21: puts a batch over several tenants. Returns the number of events that were reported as taken and are in no
/// inbox, although the source never sends them again.
async fn lost_from_a_batch(postgres: &Postgres, policy: Policy) -> usize {
    let people = People::of(postgres, 4).await;
    match policy {
        Policy::Shipped => {}
        Policy::Equality => plant_equality(&postgres.database).await,
        Policy::EqualityWithoutOutcomes => {
            mutate(&postgres.database, mutant!("21-a-policy-admits-one-tenant-of-a-batch")).await;
        }
    }
    let mut batch = Vec::new();
    for person in &people.people {
        let event = event().from(&person.author).keyed(&person.author);
        batch.push(people.accept(&postgres.store, &event).await);
    }
    let reported = postgres.store.accept(&batch).await.map_or(0, |puts| puts.len());
    let stored: i64 = sqlx::query_scalar("select count(*) from inbox_entries")
        .fetch_one(&mut postgres.database.admin().await)
        .await
        .expect("count");
    reported.saturating_sub(usize::try_from(stored).expect("a count"))
}

/// The value that the policies compare a row's tenant with.
enum Policy {
    /// The tenants of the batch, as shipped.
    Shipped,
    /// One tenant.
    Equality,
    /// One tenant, and an event without an outcome counts as a duplicate.
    EqualityWithoutOutcomes,
}

/// Makes every policy compare with one tenant, which is wrong for batches.
async fn plant_equality(database: &Database) {
    run(
        &mut database.admin().await,
        "do $$ declare t text; begin
             foreach t in array array['inbox_heads', 'inbox_cursors', 'inbox_entries'] loop
                 execute format('drop policy own_tenants on %I', t);
                 execute format('create policy own_tenants on %I using (tenant_id = (current_setting(''app.tenants'')::uuid[])[2])', t);
             end loop;
         end $$",
    )
    .await;
}

#[tokio::test]
async fn a_batch_over_tenants_loses_nothing() {
    assert_eq!(lost_from_a_batch(&postgres().await, Policy::Shipped).await, 0);
}

#[tokio::test]
async fn under_an_equality_policy_a_batch_is_refused_and_leaves_nothing() {
    let postgres = postgres().await;
    assert_eq!(
        lost_from_a_batch(&postgres, Policy::Equality).await,
        0,
        "an event without an outcome aborts"
    );
    let keys: i64 = sqlx::query_scalar("select count(*) from dedupe_keys")
        .fetch_one(&mut postgres.database.admin().await)
        .await
        .expect("count");
    assert_eq!(keys, 0, "the source may send them again");
}

#[tokio::test]
async fn under_an_equality_policy_without_outcomes_a_batch_loses_events() {
    let lost = lost_from_a_batch(&postgres().await, Policy::EqualityWithoutOutcomes).await;

    assert!(lost > 0, "X21 must be seen");
}
