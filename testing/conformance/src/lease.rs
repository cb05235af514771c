//! Checks the promises of the store of leases.

use std::time::Duration;

use nightdesk_lease::{Life, Owner, Renewal, Resource, Store};
use nightdesk_types::{BotId, Node};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{Harness, TimedHarness};

const BOT: Resource = Resource::Bot(BotId::from_uuid(Uuid::nil()));
const LONG: Duration = Duration::from_mins(1);

/// Checks that every life of a node has a higher epoch, and that nodes are counted separately.
pub async fn lives_are_counted(harness: &impl Harness) {
    let first = begun(harness, "node-1").await;
    let second = begun(harness, "node-1").await;
    let other = begun(harness, "node-2").await;

    assert!(first.epoch < second.epoch, "{first:?} {second:?}");
    assert_eq!(first.epoch, other.epoch);
}

/// Checks that only live nodes are counted.
pub async fn the_living_are_counted(harness: &impl Harness) {
    begun(harness, "node-1").await;
    begun(harness, "node-1").await;
    let other = begun(harness, "node-2").await;
    assert_eq!(harness.lease().count_living().await.expect("count nodes"), 2);

    end(harness, &other).await;
    assert_eq!(harness.lease().count_living().await.expect("count nodes"), 1);
}

/// Checks that a life that was ended, or that has a successor, cannot be renewed.
pub async fn a_life_that_is_over_stays_over(harness: &impl Harness) {
    let first = begun(harness, "node-1").await;
    assert_eq!(renew(harness, &first).await, Renewal::Kept);
    let second = begun(harness, "node-1").await;

    assert_eq!(renew(harness, &first).await, Renewal::Over, "the node was started again");
    end(harness, &first).await;
    assert_eq!(renew(harness, &second).await, Renewal::Kept, "an earlier life ended nothing");
    end(harness, &second).await;
    assert_eq!(renew(harness, &second).await, Renewal::Over);
    let unknown = Node { name: "never begun".to_owned(), ..second };
    assert_eq!(renew(harness, &unknown).await, Renewal::Over);
}

/// Checks that one of several takers owns a resource, and that all learn the owner.
pub async fn one_node_owns_something(harness: &impl Harness) {
    let mut takers = JoinSet::new();
    for number in 0..8 {
        let node = begun(harness, &format!("node-{number}")).await;
        let store = harness.lease();
        takers.spawn(async move { own(&*store, BOT, &node).await.expect("it lives") });
    }

    let owners = takers.join_all().await;
    assert!(owners.iter().all(|owner| *owner == owners[0]), "{owners:?}");
    let other = Resource::Bot(BotId::from_uuid(Uuid::max()));
    let last = begun(harness, "last").await;
    let elses = own(&*harness.lease(), other, &last).await.expect("it lives");
    assert_eq!(elses.node, last, "another bot is free");
}

/// Checks that a life's resources are free when it ends, and that the next owner has a higher epoch.
pub async fn what_a_life_owned_ends_with_it(harness: &impl Harness) {
    let (store, first) = (harness.lease(), begun(harness, "node-1").await);
    let second = begun(harness, "node-2").await;
    let owner = own(&*store, BOT, &first).await.expect("it lives");
    assert_eq!(own(&*store, BOT, &second).await.expect("it lives"), owner);
    end(harness, &first).await;

    let next = own(&*store, BOT, &second).await.expect("it lives");
    assert_eq!(next.node, second);
    assert!(next.epoch > owner.epoch, "{owner:?} {next:?}");
    let again = begun(harness, "node-1").await;
    assert_eq!(own(&*store, BOT, &again).await, Some(next), "somebody who lives owns it");
}

/// Checks that a node whose life is over takes nothing.
pub async fn the_dead_take_nothing(harness: &impl Harness) {
    let node = begun(harness, "node-1").await;
    end(harness, &node).await;

    assert_eq!(own(&*harness.lease(), BOT, &node).await, None);
}

/// Checks that a step of the store's clock, after which every lease is expired, ends no life and frees nothing.
pub async fn a_step_of_the_clock_ends_no_life(harness: &impl TimedHarness) {
    let (store, first) = (harness.lease(), begun(harness, "node-1").await);
    let second = begun(harness, "node-2").await;
    let owner = own(&*store, BOT, &first).await.expect("it lives");
    harness.let_pass(LONG * 60).await;

    let lives = read(harness).await;
    assert!(lives.len() == 2 && lives.iter().all(|life| life.is_expired), "{lives:?}");
    assert_eq!(store.count_living().await.expect("count nodes"), 2);
    assert_eq!(own(&*store, BOT, &second).await, Some(owner), "the owner may live");
    let other = Resource::Bot(BotId::from_uuid(Uuid::max()));
    assert_eq!(own(&*store, other, &second).await.expect("it lives").node, second);
    assert_eq!(renew(harness, &first).await, Renewal::Kept, "late, and not ended");
    assert!(!read(harness).await[0].is_expired);
}

/// Checks that a life is ended only if it was not renewed since it was read.
pub async fn a_life_is_ended_unless_it_was_renewed(harness: &impl Harness) {
    let (late, gone) = (begun(harness, "late").await, begun(harness, "gone").await);
    let lives = read(harness).await;
    assert_eq!(renew(harness, &late).await, Renewal::Kept);

    assert_eq!(end_lives(harness, &lives).await, std::slice::from_ref(&gone));
    assert_eq!(renew(harness, &gone).await, Renewal::Over);
    assert_eq!(end_lives(harness, &lives).await, [], "it is ended once");
    let again = begun(harness, "gone").await;
    assert_eq!(end_lives(harness, &lives).await, [], "its next life is another");
    assert_eq!(renew(harness, &again).await, Renewal::Kept);
}

/// Checks that a node's resources are free when its life was ended, and stay the new owner's when the node comes back.
pub async fn a_paused_owner_comes_too_late(harness: &impl Harness) {
    let (store, paused) = (harness.lease(), begun(harness, "paused").await);
    let owner = own(&*store, BOT, &paused).await.expect("it lives");
    let lives = read(harness).await;
    let other = begun(harness, "other").await;
    assert_eq!(own(&*store, BOT, &other).await.as_ref(), Some(&owner));
    end_lives(harness, &lives).await;
    let next = own(&*store, BOT, &other).await.expect("it lives");

    assert!(next.node == other && next.epoch > owner.epoch, "{next:?}");
    assert_eq!(renew(harness, &paused).await, Renewal::Over);
    assert_eq!(own(&*store, BOT, &paused).await, Some(next));
}

async fn begun(harness: &impl Harness, name: &str) -> Node {
    let epoch = harness.lease().begin(name, LONG).await.expect("begin a life");
    Node { name: name.to_owned(), epoch }
}

async fn renew(harness: &impl Harness, node: &Node) -> Renewal {
    harness.lease().renew(node, LONG).await.expect("renew a lease")
}

async fn end(harness: &impl Harness, node: &Node) {
    harness.lease().end(node).await.expect("end a lease");
}

async fn read(harness: &impl Harness) -> Vec<Life> {
    harness.lease().read_lives().await.expect("read lives")
}

async fn end_lives(harness: &impl Harness, lives: &[Life]) -> Vec<Node> {
    harness.lease().end_lives(lives).await.expect("end lives")
}

async fn own(store: &dyn Store, resource: Resource, node: &Node) -> Option<Owner> {
    store.find_or_claim(resource, node).await.expect("own something")
}
