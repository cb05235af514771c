//! Tests of the thread that renews a node's lease, over the memory store.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_lease::{Lease, LeaseKeeper, Life, Owner, Renewal, Resource, Store, keep_lease};
use nightdesk_memory::Memory;
use nightdesk_testkit::FakeClock;
use nightdesk_types::limits::{LEASE_LASTS, LEASE_RENEWED_EVERY, LEASE_WATCHED_EVERY};
use nightdesk_types::{Clock, Moment, Node, NodeEpoch, StoreError, SystemClock, Timestamp};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

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

/// A clock that goes with the runtime's time, which a test pauses.
struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + self.0.elapsed()
    }

    fn moment(&self) -> Moment {
        Moment::after_start(self.0.elapsed())
    }
}

/// A node's keeper in a task of the test's runtime. When the task is aborted, the node is dead.
async fn kept(store: &Memory, name: &str) -> (Arc<Lease>, JoinHandle<()>) {
    kept_over(store.clone(), store, name).await
}

/// A keeper that reaches the memory store over another one.
async fn kept_over(
    over: impl Store + 'static,
    store: &Memory,
    name: &str,
) -> (Arc<Lease>, JoinHandle<()>) {
    let lease = begun(store, name, RuntimeClock(Instant::now())).await;
    let kept = Arc::clone(&lease);
    let keeper = async move { keep_lease(&kept, &over, &CancellationToken::new()).await };
    (lease, tokio::spawn(keeper))
}

async fn is_over(store: &Memory, lease: &Lease) -> bool {
    let lives = store.read_lives().await.expect("memory does not fail");
    lives.iter().all(|life| life.node != *lease.node())
}

#[tokio::test(start_paused = true)]
async fn no_step_of_the_stores_clock_ends_a_node_that_renews() {
    let clock = FakeClock::default();
    let store = Memory::new(clock.clone());
    let nodes = [kept(&store, "n1").await, kept(&store, "n2").await, kept(&store, "n3").await];
    sleep(LEASE_LASTS * 2).await;

    for step in [Duration::from_secs(9), Duration::from_hours(1), LEASE_LASTS] {
        clock.let_pass(step);
        sleep(LEASE_LASTS * 2).await;
        assert!(nodes.iter().all(|(lease, _)| lease.is_held()), "after a step of {step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dead_node_is_ended_after_a_lease_and_two_looks() {
    let clock = FakeClock::default();
    let store = Memory::new(clock.clone());
    let [survivor, dead] = [kept(&store, "n1").await, kept(&store, "n2").await];
    sleep(LEASE_LASTS * 2).await;
    dead.1.abort();
    clock.let_pass(LEASE_LASTS);

    // Its last renewal lies back by one interval at most.
    sleep(LEASE_LASTS.saturating_sub(LEASE_RENEWED_EVERY)).await;
    assert!(!is_over(&store, &dead.0).await);
    sleep(LEASE_RENEWED_EVERY + LEASE_WATCHED_EVERY * 2).await;
    assert!(is_over(&store, &dead.0).await);
    assert!(survivor.0.is_held());
}

#[tokio::test(start_paused = true)]
async fn a_dead_node_is_ended_although_every_third_look_fails() {
    let clock = FakeClock::default();
    let store = Memory::new(clock.clone());
    let slow = SlowLooks { store: store.clone(), looks: AtomicU32::new(0) };
    let [survivor, dead] = [kept_over(slow, &store, "n1").await, kept(&store, "n2").await];
    sleep(LEASE_LASTS * 2).await;
    dead.1.abort();
    clock.let_pass(LEASE_LASTS);

    sleep(LEASE_LASTS.saturating_sub(LEASE_RENEWED_EVERY)).await;
    assert!(!is_over(&store, &dead.0).await, "its last renewal lies back by one interval at most");
    sleep(LEASE_LASTS + LEASE_RENEWED_EVERY).await;
    assert!(is_over(&store, &dead.0).await);
    assert!(survivor.0.is_held());
}

#[tokio::test(start_paused = true)]
async fn no_node_is_ended_soon_after_the_store_was_away() {
    let clock = FakeClock::default();
    let store = Memory::new(clock.clone());
    let slow = begun(&store, "slow", FakeClock::default()).await;
    // Every lease expired while the store was down; the other node may only be a little slower.
    clock.let_pass(LEASE_LASTS * 2);
    let _keeper = kept(&store, "n1").await;

    sleep(LEASE_LASTS).await;
    assert!(!is_over(&store, &slow).await, "it has as long as a lease lasts");
    sleep(LEASE_WATCHED_EVERY * 2).await;
    assert!(is_over(&store, &slow).await);
}

/// A store that does not answer every third look at the lives of others.
struct SlowLooks {
    store: Memory,
    looks: AtomicU32,
}

#[async_trait]
impl Store for SlowLooks {
    async fn begin(&self, name: &str, lasts: Duration) -> Result<NodeEpoch, StoreError> {
        self.store.begin(name, lasts).await
    }

    async fn renew(&self, node: &Node, lasts: Duration) -> Result<Renewal, StoreError> {
        self.store.renew(node, lasts).await
    }

    async fn end(&self, node: &Node) -> Result<(), StoreError> {
        self.store.end(node).await
    }

    async fn read_lives(&self) -> Result<Vec<Life>, StoreError> {
        if self.looks.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
            std::future::pending::<()>().await;
        }
        self.store.read_lives().await
    }

    async fn end_lives(&self, lives: &[Life]) -> Result<Vec<Node>, StoreError> {
        self.store.end_lives(lives).await
    }

    async fn count_living(&self) -> Result<u32, StoreError> {
        self.store.count_living().await
    }

    async fn find_or_claim(
        &self,
        resource: Resource,
        node: &Node,
    ) -> Result<Option<Owner>, StoreError> {
        self.store.find_or_claim(resource, node).await
    }
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

    async fn read_lives(&self) -> Result<Vec<Life>, StoreError> {
        std::future::pending().await
    }

    async fn end_lives(&self, _: &[Life]) -> Result<Vec<Node>, StoreError> {
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
