//! Tests leases while the clock of the database is set forward.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_lease::{Lease, Store, keep_lease};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::{LEASE_LASTS, LEASE_RENEWED_EVERY, LEASE_WATCHED_EVERY};
use nightdesk_types::{Clock, Node, SystemClock};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::server::run;
use crate::suites::postgres;

/// The margin for a busy machine.
const SLACK: Duration = Duration::from_secs(5);

/// Makes every lease look expired, as a step of the database's clock by an hour does.
const STEP: &str = "update nodes set expires_at = clock_timestamp() - interval '1 hour'";

/// Starts a node that renews its lease over its own connections. When the task is aborted, the node is dead.
async fn node(store: Pg, name: &str) -> (Arc<Lease>, JoinHandle<()>) {
    let clock = SystemClock::start();
    let asked_at = clock.moment();
    let epoch = store.begin(name, LEASE_LASTS).await.expect("begin a life");
    let node = Node { name: name.to_owned(), epoch };
    let lease = Arc::new(Lease::new(node, Box::new(clock), asked_at));
    let kept = Arc::clone(&lease);
    let keeper = async move { keep_lease(&kept, &store, &CancellationToken::new()).await };
    (lease, tokio::spawn(keeper))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_step_of_the_databases_clock_ends_no_node_and_a_death_does() {
    let postgres = postgres().await;
    let mut admin = postgres.database.admin().await;
    let mut nodes = Vec::new();
    for name in ["n1", "n2", "n3"] {
        nodes.push(node(postgres.database.store(), name).await);
    }

    // Longer than a lease, and over several renewals of each node, so that every node sees expired leases of the others.
    let began = Instant::now();
    while began.elapsed() < LEASE_LASTS + LEASE_RENEWED_EVERY * 2 {
        run(&mut admin, STEP).await;
        sleep(LEASE_WATCHED_EVERY).await;
    }
    let living = postgres.store.count_living().await.expect("count nodes");
    assert_eq!(living, 3, "a step of the clock is not a death");
    assert!(nodes.iter().all(|(lease, _)| lease.is_held()));

    let (_, dead) = nodes.pop().expect("three nodes");
    dead.abort();
    timeout(LEASE_LASTS + LEASE_WATCHED_EVERY * 2 + SLACK, async {
        while postgres.store.count_living().await.expect("count nodes") > 2 {
            sleep(LEASE_WATCHED_EVERY).await;
        }
    })
    .await
    .expect("a dead node is found");
    assert!(nodes.iter().all(|(lease, _)| lease.is_held()));
}
