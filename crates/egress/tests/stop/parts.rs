//! Tests of sends with several messages.

use std::time::Duration;

use nightdesk_egress::SendResult;
use nightdesk_types::limits::SEND_DONE_WITHIN;
use tokio::time::Instant;

use crate::stage::{Does, Stage, long};

fn ids(settled: &SendResult) -> (Vec<&str>, usize) {
    let SendResult::InParts(parts) = settled else { unreachable!("said in parts: {settled:?}") };
    (parts.said.iter().filter_map(|receipt| receipt.message_id.as_deref()).collect(), parts.of)
}

#[tokio::test(start_paused = true)]
async fn parts_are_said_in_order_and_all_are_known() {
    let stage = Stage::set(&[]).await;
    let settled = stage.says(&*stage.life("node-1").await, "c1", &long(3)).await;

    assert_eq!(ids(&settled), (vec!["m1", "m2", "m3"], 3));
    let said: Vec<_> = stage.calls().into_iter().map(|call| call.text).collect();
    assert_eq!(said.join("\n"), long(3));
}

#[tokio::test(start_paused = true)]
async fn a_failure_after_a_part_was_said_is_not_a_failure_of_all() {
    for trouble in [Does::Refuses, Does::Hangs, Does::Limits(SEND_DONE_WITHIN * 2)] {
        let stage = Stage::set(&[Does::Takes, trouble]).await;
        let egress = stage.life("node-1").await;
        let settled = stage.says(&egress, "c1", &long(3)).await;

        assert_eq!(ids(&settled), (vec!["m1"], 3), "{trouble:?}");
        assert_eq!(stage.calls().len(), 2, "the third is not said without the second");
        assert_eq!(stage.says(&egress, "c1", &long(3)).await, settled, "a repeat is told the same");
        assert_eq!(stage.calls().len(), 2, "and calls nobody");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_first_part_is_plain() {
    let stage = Stage::set(&[Does::Refuses]).await;

    let settled = stage.says(&*stage.life("node-1").await, "c1", &long(3)).await;
    assert_eq!(settled, SendResult::Failed("message refused by the platform: no".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn one_time_is_kept_for_all_parts() {
    let slow = [Does::TakesAfter(Duration::from_secs(10)); 5];
    let stage = Stage::set(&slow).await;
    let began = Instant::now();
    let settled = stage.says(&*stage.life("node-1").await, "c1", &long(5)).await;

    assert_eq!(ids(&settled), (vec!["m1", "m2"], 5), "the third was under way");
    assert_eq!(began.elapsed().as_secs(), SEND_DONE_WITHIN.as_secs());
    assert_eq!(stage.calls().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn two_agents_do_not_talk_into_each_other() {
    let slow = [Does::TakesAfter(Duration::from_secs(1)); 6];
    let stage = Stage::set(&slow).await;
    let egress = stage.life("node-1").await;
    // Ann's send in Bob's lane: the lane differs, the chat is the same.
    let other = async {
        let send = stage.send(stage.agents[0], "r2", crate::stage::message("c1", &long(2))).await;
        let turn = egress.lanes().enter((stage.agents[1], "c1".to_owned())).expect("room");
        egress.deliver(&send, &turn).await.expect("memory does not fail")
    };
    let text = long(3);
    let (first, second) = tokio::join!(stage.says(&egress, "c1", &text), other);

    assert_eq!(ids(&first).0, ["m1", "m2", "m3"]);
    assert_eq!(ids(&second).0, ["m4", "m5"]);
}

#[tokio::test(start_paused = true)]
async fn what_the_platform_cannot_do_leaves_no_row() {
    let stage = Stage::set(&[]).await.that_can(&["edit"]);
    let settled = stage.says(&*stage.life("node-1").await, "c1", "hello").await;
    assert_eq!(settled, SendResult::Failed("op not supported: send".to_owned()));
    assert_eq!(stage.calls(), []);

    let stage = stage.that_can(&["send"]);
    let settled = stage.says(&*stage.life("node-1").await, "c1", "hello").await;
    assert!(matches!(settled, SendResult::Delivered(_)), "the same request is new: {settled:?}");
}
