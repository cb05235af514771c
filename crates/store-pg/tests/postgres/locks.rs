//! Tests that gathered accepts take their locks in one order.

use std::sync::Arc;

use nightdesk_gate::Gate;
use nightdesk_inbox::{AcceptRequest, Store};
use nightdesk_store_pg::Pg;
use nightdesk_testkit::builders::event;
use nightdesk_types::limits::SOURCE_REFUSED_WITHIN;
use tokio::time::Instant;

use crate::planted::{People, replace_in_function};
use crate::server::run;
use crate::suites::postgres;

/// Agents in each batch.
const AGENTS: usize = 8;

/// Lets two writers put the same new keys for the same agents in opposite order. Returns true if at least one of the
/// batches failed.
async fn one_fails(store: &Arc<Pg>, people: &People, batches: usize) -> bool {
    let gate = Gate::new(Arc::<Pg>::clone(store));
    for batch in 0..batches / 2 {
        let mut accepts = Vec::new();
        for person in &people.people {
            let event = event().from(&person.author).keyed(format!("{batch}-{}", person.author));
            let admitted = event.admitted(&people.bot, &gate).await.expect("admitted");
            accepts.push(AcceptRequest::from_event(&admitted, None));
        }
        let mut reversed = accepts.clone();
        reversed.reverse();
        let (one, other) = tokio::join!(store.accept(&accepts), store.accept(&reversed));
        if one.is_err() || other.is_err() {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn a_locked_inbox_is_an_error_in_time() {
    let postgres = postgres().await;
    let people = People::of(&postgres, 1).await;
    let event = event().from(&people.people[0].author).keyed("k");
    let accept = people.accept(&postgres.store, &event).await;
    let mut admin = postgres.database.admin().await;
    run(&mut admin, "begin; select from inbox_heads for update").await;
    let asked = Instant::now();

    let refused = postgres.store.accept(&[accept]).await.expect_err("somebody holds the head");
    assert!(refused.retryable, "the source should come again");
    assert!(asked.elapsed() < SOURCE_REFUSED_WITHIN, "{:?}", asked.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_writers_in_opposite_order_never_deadlock() {
    let postgres = postgres().await;
    let people = People::of(&postgres, AGENTS).await;

    assert!(!one_fails(&postgres.store, &people, 10_000).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn unsorted_they_do() {
    let postgres = postgres().await;
    let people = People::of(&postgres, AGENTS).await;
    let unsorted = [
        ("order by day, wanted.operator, wanted.key", "order by wanted.o"),
        ("order by c.tenant, c.agent", ""),
    ];
    replace_in_function(&postgres.database, "inbox_store", &unsorted).await;

    let failed = one_fails(&postgres.store, &people, 10_000).await;
    assert!(failed, "the check must be able to see a deadlock");
}
