//! A node dies, and its next life looks after what was left.

use std::time::Duration;

use nightdesk_egress::{Asked, Settled, Store};
use nightdesk_types::limits::SEND_FORGOTTEN_AFTER;
use tokio::time::timeout;

use crate::stage::{Does, Stage, long, message, pace};

#[tokio::test(start_paused = true)]
async fn a_node_that_dies_between_two_parts_says_none_of_them_again() {
    let stage = Stage::set(&[Does::Takes, Does::Hangs]).await;
    let first = stage.life(1);
    // Dropping the future is the death: nothing after it is run.
    let dies = timeout(Duration::from_secs(1), stage.says(&first, "c1", &long(3))).await;
    assert!(dies.is_err());
    assert_eq!(stage.calls().len(), 2);

    let second = stage.life(2);
    stage.store.clock().let_pass(SEND_FORGOTTEN_AFTER * 2);
    assert_eq!(second.sweep().await.expect("sweep"), 1);
    assert_eq!(second.sweep().await.expect("sweep"), 0);
    assert_eq!(stage.says(&second, "c1", &long(3)).await, Settled::Ambiguous);
    assert_eq!(stage.calls().len(), 2, "no third call, ever");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_dies_waiting_for_its_pace_has_not_begun() {
    let stage = Stage::set(&[]).await.paced(pace(1), pace(1));
    let first = stage.life(1);
    stage.says(&first, "c1", "one").await;
    let dies = timeout(Duration::from_millis(500), stage.says(&first, "c1", &long(2))).await;
    assert!(dies.is_err());
    assert_eq!(stage.calls().len(), 1);

    let second = stage.life(2);
    stage.store.clock().let_pass(SEND_FORGOTTEN_AFTER * 2);
    assert_eq!(second.sweep().await.expect("sweep"), 1);
    assert_eq!(stage.calls().len(), 3, "both parts were said");
    assert_eq!(second.sweep().await.expect("sweep"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_dies_before_it_writes_the_receipt_calls_nobody_again() {
    let stage = Stage::set(&[]).await;
    let send = stage.send(stage.agents[0], "r1", message("c1", "hi")).await;
    let (key, owner) = (nightdesk_egress::SendKey::from(&send), owner(1));
    assert_eq!(stage.store.ask(&send).await.expect("ask"), Asked::New);
    assert!(stage.store.claim(&key, &owner).await.expect("claim"));

    let second = stage.life(2);
    assert_eq!(second.sweep().await.expect("sweep"), 1);
    let settled = stage.store.ask(&send).await.expect("ask");
    assert_eq!(settled, Asked::Settled(Settled::Ambiguous));
    assert_eq!(stage.calls(), []);
}

fn owner(epoch: i64) -> nightdesk_egress::Owner {
    let epoch = nightdesk_types::NodeEpoch::new(epoch);
    nightdesk_egress::Owner { node: "node-1".to_owned(), epoch }
}
