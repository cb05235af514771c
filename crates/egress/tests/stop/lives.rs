//! Tests in which a node dies, and its next life handles the remaining sends.

use std::time::Duration;

use nightdesk_egress::{SendKey, SendResult, SendState, Store};
use tokio::time::timeout;

use crate::stage::{Does, Stage, long, message, pace};

#[tokio::test(start_paused = true)]
async fn a_node_that_dies_between_two_parts_says_none_of_them_again() {
    let stage = Stage::set(&[Does::Takes, Does::Hangs]).await;
    let first = stage.life("node-1").await;
    // Dropping the future simulates the death: no later code runs.
    let dies = timeout(Duration::from_secs(1), stage.says(&first, "c1", &long(3))).await;
    assert!(dies.is_err());
    assert_eq!(stage.calls().len(), 2);

    let second = stage.life("node-1").await;
    assert_eq!(stage.sweep(&second).await, 1);
    assert_eq!(stage.sweep(&second).await, 0);
    assert_eq!(stage.says(&second, "c1", &long(3)).await, SendResult::Ambiguous);
    assert_eq!(stage.calls().len(), 2, "no third call, ever");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_dies_waiting_for_its_pace_has_not_begun() {
    let stage = Stage::set(&[]).await.paced(pace(1), pace(1));
    let first = stage.life("node-1").await;
    stage.says(&first, "c1", "one").await;
    let dies = timeout(Duration::from_millis(500), stage.says(&first, "c1", &long(2))).await;
    assert!(dies.is_err());
    assert_eq!(stage.calls().len(), 1);

    let second = stage.life("node-1").await;
    assert_eq!(stage.sweep(&second).await, 1);
    assert_eq!(stage.calls().len(), 3, "both parts were said");
    assert_eq!(stage.sweep(&second).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_dies_before_it_writes_the_receipt_calls_nobody_again() {
    let stage = Stage::set(&[]).await;
    let send = stage.send(stage.agents[0], "r1", message("c1", "hi")).await;
    let owner = stage.owner(&stage.node("node-1").await).await;
    assert_eq!(stage.store.record_request(&send, "node-1").await.expect("ask"), SendState::New);
    assert!(stage.store.claim(&SendKey::from(&send), &owner).await.expect("claim"));

    let second = stage.life("node-1").await;
    assert_eq!(stage.sweep(&second).await, 1);
    let settled = stage.store.send_state(&SendKey::from(&send)).await.expect("look");
    assert_eq!(settled, Some(SendState::Settled(SendResult::Ambiguous)));
    assert_eq!(stage.calls(), []);
}

#[tokio::test(start_paused = true)]
async fn a_send_that_was_told_to_have_failed_is_not_made_by_an_earlier_request() {
    let stage = Stage::set(&[]).await;
    let (first, second) = (stage.life("node-1").await, stage.life("node-2").await);
    let turn = first.lanes().enter((stage.agents[0], "c1".to_owned())).expect("there is room");
    let send = stage.send(stage.agents[0], "r1", message("c1", "hi")).await;

    // The agent repeated the request on another node, which has no turn for it.
    let told = second.settle_without_turn(&send).await.expect("memory does not fail");
    assert_eq!(told, SendResult::without_turn());
    let made = first.deliver(&send, &turn).await.expect("memory does not fail");
    assert_eq!(made, SendResult::without_turn());
    assert_eq!(stage.calls().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_repeat_without_a_turn_gets_what_became_of_the_first_request() {
    let stage = Stage::set(&[]).await;
    let (first, second) = (stage.life("node-1").await, stage.life("node-2").await);
    let turn = first.lanes().enter((stage.agents[0], "c1".to_owned())).expect("there is room");
    let send = stage.send(stage.agents[0], "r1", message("c1", "hi")).await;
    let made = first.deliver(&send, &turn).await.expect("memory does not fail");

    let told = second.settle_without_turn(&send).await.expect("memory does not fail");
    assert_eq!(told, made);
    assert_eq!(stage.calls().len(), 1);
}
