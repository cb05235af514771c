//! Tests of a database that lost commits: numbers are given out again, and no entry of the new history is taken for one
//! of the old.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_gate::Gate;
use nightdesk_inbox::{
    AckOutcome, AckRange, AckRequest, Inbox, LineClaim, ReadRequest, ReadResponse, Store as _,
};
use nightdesk_lease::Store as _;
use nightdesk_line::{AuthenticatedGateway, LineStart, Store as _};
use nightdesk_store_pg::Pg;
use nightdesk_testkit::builders::event;
use nightdesk_types::{Node, NodeEpoch, Seq, Timestamp};
use tokio_util::task::TaskTracker;

use crate::planted::{People, Person};
use crate::server::run;
use crate::suites::{Postgres, postgres, web_socket};

fn node() -> Node {
    Node { name: "n".to_owned(), epoch: NodeEpoch::new(1) }
}

async fn take(store: &Pg, person: &Person) -> LineClaim {
    let Person { scope, agent, gateway, .. } = *person;
    let caller = AuthenticatedGateway { scope, agent, gateway, acks: true };
    let taken = store.take(web_socket(&caller, &node())).await.expect("take a line");
    let LineStart { incarnation, generation, .. } = taken;
    LineClaim { scope, agent, incarnation, generation }
}

async fn say(people: &People, store: &Arc<Pg>, number: usize) {
    let said = event().from(&people.people[0].author).keyed(format!("k{number}"));
    people.put(store, &said).await;
}

async fn ack(store: &Pg, line: LineClaim, to: i64) -> AckOutcome {
    let at = Timestamp::UNIX_EPOCH;
    let range = AckRange { from: Seq::new(1), to: Seq::new(to), at, handed_at: at };
    let acked = store.ack(&[AckRequest { line, ranges: vec![range] }]).await;
    acked.expect("ack entries").pop().expect("an answer")
}

const fn ask(line: LineClaim, after: i64) -> ReadRequest {
    ReadRequest {
        line,
        after: Seq::new(after),
        since: Timestamp::UNIX_EPOCH,
        entries_max: 12,
        taken_at: Seq::new(0),
    }
}

async fn read(store: &Pg, line: LineClaim) -> ReadResponse {
    store.read_waiting(&[ask(line, 0)]).await.expect("read").pop().expect("an answer")
}

/// Takes the last two entries away, as a failover to a standby does that lacked their commits.
async fn lose_two_commits(postgres: &Postgres) {
    let mut admin = postgres.database.admin().await;
    run(
        &mut admin,
        "delete from inbox_entries where seq > 3;
         update inbox_heads set next_seq = 4;
         delete from dedupe_keys;
         -- The standby was promoted: what it recorded is of the timeline before.
         update history set timeline = timeline + 1",
    )
    .await;
}

#[tokio::test]
async fn entries_of_a_new_history_are_delivered_although_their_numbers_were_acked_before() {
    let postgres = postgres().await;
    let store = &postgres.store;
    store.begin("n", Duration::from_mins(10)).await.expect("a node begins");
    let people = People::of(&postgres, 1).await;
    for number in 1..=5 {
        say(&people, store, number).await;
    }
    let old = take(store, &people.people[0]).await;
    let mut history = store.watch_history();
    history.mark_unchanged();

    lose_two_commits(&postgres).await;
    // Behind a pooler the connections live on: nothing is written until the history was checked.
    let accept = people.accept(store, &event().from(&people.people[0].author).keyed("k6")).await;
    let refused = store.accept(&[accept]).await.expect_err("the history is over");
    assert!(refused.retryable, "{refused:?}");
    store.renew(&node(), Duration::from_mins(10)).await.expect("renew a lease");

    assert!(history.has_changed().expect("the store lives"), "the node is told");
    assert_eq!(ack(store, old, 5).await, AckOutcome::HistoryChanged, "a late ack does not count");
    assert_eq!(read(store, old).await, ReadResponse::HistoryChanged);
    say(&people, store, 6).await;
    say(&people, store, 7).await;
    let new = take(store, &people.people[0]).await;
    let ReadResponse::Entries(entries) = read(store, new).await else { panic!("it is the newest") };
    let ids: Vec<_> = entries.iter().map(|entry| (entry.seq.get(), entry.incarnation)).collect();
    let (before, after) = (old.incarnation, new.incarnation);
    assert_eq!(ids, [(1, before), (2, before), (3, before), (4, after), (5, after)]);
}

#[tokio::test]
async fn a_connection_to_another_server_or_to_a_loaded_dump_begins_another_history() {
    let postgres = postgres().await;
    let mut current = take_history(&postgres.database.store()).await;
    assert_eq!(take_history(&postgres.database.store()).await, current, "the history goes on");

    let mut admin = postgres.database.admin().await;
    for column in ["system_id", "table_id"] {
        run(&mut admin, &format!("update history set {column} = {column} + 1")).await;
        let next = take_history(&postgres.database.store()).await;
        assert_ne!(next, current, "{column}");
        assert_eq!(take_history(&postgres.database.store()).await, next, "once");
        current = next;
    }
}

/// Connects, and returns the incarnation that the store then knows.
async fn take_history(store: &Pg) -> Option<nightdesk_types::Incarnation> {
    store.count_living().await.expect("count nodes");
    let current = *store.watch_history().borrow();
    assert!(current.is_some());
    current
}

#[tokio::test]
async fn a_replaced_line_gets_no_entry_from_the_cache_of_its_node() {
    let postgres = postgres().await;
    let store = &postgres.store;
    let people = People::of(&postgres, 1).await;
    let gate = Gate::new(Arc::<Pg>::clone(store));
    let inbox = Inbox::start(Arc::<Pg>::clone(store), &TaskTracker::new());
    let old = take(store, &people.people[0]).await;
    let new = take(store, &people.people[0]).await;
    let said = event().from(&people.people[0].author).keyed("k1");
    let admitted = said.admitted(&people.bot, &gate).await.expect("admitted");
    inbox.put(&admitted, None).await.expect("stored");

    let read = inbox.read_waiting(ask(old, 0)).await.expect("read");
    assert_eq!(read, ReadResponse::LineReplaced);
    let read = inbox.read_waiting(ask(new, 0)).await.expect("read");
    let ReadResponse::Entries(entries) = read else { panic!("it is the newest") };
    assert_eq!(entries.len(), 1);
}
