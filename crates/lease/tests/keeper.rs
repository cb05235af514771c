//! Tests of the thread that renews a node's lease, over the memory store.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_lease::{Lease, LeaseKeeper, Owner, Renewal, Resource, Store};
use nightdesk_memory::Memory;
use nightdesk_testkit::FakeClock;
use nightdesk_types::limits::{BURIED_AFTER, LEASE_LASTS, LEASE_RENEWED_EVERY};
use nightdesk_types::{Clock, Node, NodeEpoch, StoreError, SystemClock};
use tokio::time::{sleep, timeout};

const SOON: Duration = Duration::from_secs(5);

async fn begun(store: &Memory, name: &str, clock: impl Clock + 'static) -> Arc<Lease> {
    let asked_at = clock.moment();
    let epoch = store.begin(name, LEASE_LASTS).await.expect("memory does not fail");
    let node = Node { name: name.to_owned(), epoch };
    Arc::new(Lease::new(node, Box::new(clock), asked_at))
}

fn keeper(lease: &Arc<Lease>, store: impl Store + 'static) -> LeaseKeeper {
    LeaseKeeper::start(Arc::clone(lease), move || Ok(store)).expect("a thread")
}

#[tokio::test]
async fn a_lease_that_nobody_renews_runs_out() {
    let clock = FakeClock::default();
    let store = Memory::new(FakeClock::default());
    let lease = begun(&store, "n1", clock.clone()).await;

    clock.let_pass(LEASE_LASTS.saturating_sub(Duration::from_millis(1)));
    assert!(lease.is_held());
    clock.let_pass(Duration::from_millis(1));
    assert!(!lease.is_held());
    assert!(timeout(Duration::ZERO, lease.wait_until_over()).await.is_err(), "nobody has ended it");
}

#[tokio::test]
async fn it_is_renewed_while_nobody_looks() {
    let clock = FakeClock::default();
    let store = Memory::new(clock.clone());
    let lease = begun(&store, "n1", clock.clone()).await;
    let keeper = keeper(&lease, store.clone());

    clock.let_pass(LEASE_LASTS);
    timeout(SOON, async {
        while !lease.is_held() {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("it is renewed");
    keeper.stop().await;
    assert!(!lease.is_held(), "it is given back");
    let renewed = store.renew(lease.node(), LEASE_LASTS).await.expect("memory does not fail");
    assert_eq!(renewed, Renewal::Over, "others need not wait");
}

#[tokio::test]
async fn a_node_that_others_took_for_dead_finds_out() {
    let store = Memory::new(FakeClock::default());
    let lease = begun(&store, "n1", SystemClock::start()).await;
    let _keeper = keeper(&lease, store.clone());
    store.end(lease.node()).await.expect("memory does not fail");

    timeout(SOON, lease.wait_until_over()).await.expect("it finds out");
    assert!(!lease.is_held());
}

#[tokio::test]
async fn nobody_is_buried_after_the_store_was_away() {
    let clock = FakeClock::default();
    let store = Memory::new(clock.clone());
    let gone = begun(&store, "gone", FakeClock::default()).await;
    let lease = begun(&store, "n1", SystemClock::start()).await;
    // All leases expired while the store was down; the other node may only be a little slower.
    clock.let_pass(LEASE_LASTS + BURIED_AFTER * 2);
    let _keeper = keeper(&lease, store.clone());

    let is_buried = || async {
        let renewed = store.renew(gone.node(), Duration::ZERO).await.expect("memory does not fail");
        clock.let_pass(BURIED_AFTER * 2);
        renewed == Renewal::Over
    };
    sleep(LEASE_LASTS / 2).await;
    assert!(!is_buried().await, "it is given as long as a lease lasts");
    timeout(LEASE_LASTS + LEASE_RENEWED_EVERY * 3, async {
        while !is_buried().await {
            sleep(Duration::from_millis(100)).await;
        }
    })
    .await
    .expect("then it is gone");
}

/// A store that never answers.
struct Frozen;

#[async_trait]
impl Store for Frozen {
    async fn begin(&self, _: &str, _: Duration) -> Result<NodeEpoch, StoreError> {
        std::future::pending().await
    }

    async fn renew(&self, _: &Node, _: Duration) -> Result<Renewal, StoreError> {
        std::future::pending().await
    }

    async fn end(&self, _: &Node) -> Result<(), StoreError> {
        std::future::pending().await
    }

    async fn end_dead_nodes(&self, _: Duration) -> Result<Vec<Node>, StoreError> {
        std::future::pending().await
    }

    async fn count_living(&self) -> Result<u32, StoreError> {
        std::future::pending().await
    }

    async fn find_or_claim(&self, _: Resource, _: &Node) -> Result<Option<Owner>, StoreError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_store_that_never_answers_holds_nobody_up() {
    let lease = begun(&Memory::new(FakeClock::default()), "n1", SystemClock::start()).await;
    let keeper = keeper(&lease, Frozen);

    timeout(SOON, keeper.stop()).await.expect("it ends");
    assert!(!lease.is_held());
}
