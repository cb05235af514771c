//! Tests of fleeting actions.

use std::time::Duration;

use nightdesk_egress::{Egress, FleetingAction, SendResult};
use nightdesk_types::Send;
use nightdesk_types::limits::TYPING_CALL_WAIT;
use nightdesk_types::send::Op;
use tokio::time::{Instant, advance};

use crate::stage::{Does, Stage, message, pace};

async fn types(stage: &Stage, egress: &Egress, chat: &str) -> SendResult {
    let typing = Send { op: Op::Typing { content: None }, ..message(chat, "") };
    let send = stage.send(stage.agents[0], "t", typing).await;
    egress.show(&FleetingAction::from_send(&send).expect("typing is fleeting")).await
}

#[tokio::test(start_paused = true)]
async fn typing_is_shown_once_a_second_and_chat() {
    let stage = Stage::set(&[]).await;
    let egress = stage.life("node-1").await;
    for chat in ["c1", "c1", "c1", "c2"] {
        assert!(matches!(types(&stage, &egress, chat).await, SendResult::Delivered(_)));
    }
    assert_eq!(stage.calls().len(), 2);

    advance(Duration::from_secs(1)).await;
    types(&stage, &egress, "c1").await;
    assert_eq!(stage.calls().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_desks_own_words_do_not_wait_behind_an_agents() {
    let stage = Stage::set(&[]).await;
    let egress = stage.life("node-1").await;
    types(&stage, &egress, "c1").await;
    let waking = Send { op: Op::Typing { content: Some("waking…".into()) }, ..message("c1", "") };
    let send = stage.send(stage.agents[0], "w", waking).await;
    let own = FleetingAction::from_send(&send).expect("typing is fleeting").as_desk_action();
    egress.show(&own).await;

    assert_eq!(stage.calls().len(), 2, "it was left out");
}

#[tokio::test(start_paused = true)]
async fn typing_waits_for_no_send_and_no_send_for_it() {
    let stage = Stage::set(&[Does::Hangs, Does::Hangs]).await;
    let egress = stage.life("node-1").await;
    let began = Instant::now();
    let typed = async {
        tokio::task::yield_now().await;
        types(&stage, &egress, "c1").await;
        began.elapsed()
    };
    let (_, typed) = tokio::join!(stage.says(&egress, "c1", "slow"), typed);

    assert_eq!(typed, TYPING_CALL_WAIT, "it has a short time of its own");
}

#[tokio::test(start_paused = true)]
async fn typing_leaves_a_limited_chat_alone() {
    let stage = Stage::set(&[Does::Limits(Duration::from_mins(1))]).await;
    let egress = stage.life("node-1").await;
    stage.says(&egress, "c1", "one").await;

    assert!(matches!(types(&stage, &egress, "c1").await, SendResult::Delivered(_)));
    assert_eq!(stage.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn typing_leaves_half_of_the_bots_pace_to_sends() {
    let stage = Stage::set(&[]).await.paced(pace(1_000), pace(2));
    let egress = stage.life("node-1").await;
    for chat in ["c1", "c2"] {
        types(&stage, &egress, chat).await;
    }
    stage.says(&egress, "c1", "one").await;

    assert_eq!(stage.seconds().last(), Some(&0));
}

#[tokio::test]
async fn typing_nobody_can_show_is_not_asked_for() {
    let stage = Stage::set(&[]).await.that_can(&["send"]);
    let settled = types(&stage, &*stage.life("node-1").await, "c1").await;

    assert_eq!(settled, SendResult::Failed("op not supported: typing".to_owned()));
    assert_eq!(stage.calls(), []);
}
