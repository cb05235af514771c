//! Tests that gathered accepts take their locks in one order.

use std::error::Error;
use std::sync::Arc;

use nightdesk_gate::Gate;
use nightdesk_inbox::{AcceptRequest, Store};
use nightdesk_store_pg::Pg;
use nightdesk_testkit::builders::event;
use nightdesk_types::limits::SOURCE_REFUSED_WITHIN;
use tokio::time::Instant;

use crate::planted::{People, replace_in_function};
use crate::server::run;
use crate::suites::{Postgres, postgres};

/// Agents in each batch.
const AGENTS: usize = 8;

/// Lock timeouts that a busy machine may cause in a run.
const LOCK_TIMEOUTS_MAX: usize = 20;

/// Lets two writers put the same new keys for the same agents in opposite order. Returns true as soon as they deadlock.
async fn deadlock(postgres: &Postgres, people: &People, batches: usize) -> bool {
    // The store waits a second for a lock, and so does PostgreSQL until it looks for a deadlock. New connections look
    // sooner, so a lock timeout means only that the machine was busy.
    let mut admin = postgres.database.admin().await;
    let look_sooner = "do $$ begin
        execute format('alter database %I set deadlock_timeout = 50', current_database());
    end $$";
    run(&mut admin, look_sooner).await;
    let store = Arc::new(postgres.store.connect_apart());
    let gate = Gate::new(Arc::<Pg>::clone(&store));
    let mut lock_timeouts = 0;
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
        for error in [one.err(), other.err()].into_iter().flatten() {
            let source = error.source().map(ToString::to_string).unwrap_or_default();
            if source.contains("deadlock detected") {
                return true;
            }
            assert!(source.contains("lock timeout"), "{source}");
            lock_timeouts += 1;
            assert!(
                lock_timeouts <= LOCK_TIMEOUTS_MAX,
                "the writers keep waiting for locks, but not in a deadlock"
            );
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

    assert!(!deadlock(&postgres, &people, 10_000).await);
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

    let found = deadlock(&postgres, &people, 10_000).await;
    assert!(found, "the check must be able to see a deadlock");
}
