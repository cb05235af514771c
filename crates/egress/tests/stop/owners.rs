//! Tests with several nodes: the owner of a bot makes all its sends.

use std::time::Duration;

use nightdesk_egress::SendResult;
use nightdesk_lease::Store as _;
use tokio::time::{sleep, timeout};

use crate::stage::{Does, Stage, pace};

#[tokio::test(start_paused = true)]
async fn what_is_asked_elsewhere_is_said_by_the_owner() {
    let stage = Stage::set(&[]).await;
    let (owner, other) = (stage.life("node-1").await, stage.life("node-2").await);
    stage.says(&owner, "c1", "mine").await;

    let asked = stage.says(&other, "c1", "from elsewhere");
    let served = async {
        sleep(Duration::from_millis(100)).await;
        assert_eq!(stage.calls().len(), 1, "the other node says nothing itself");
        assert_eq!(stage.sweep(&owner).await, 1);
        assert_eq!(stage.sweep(&owner).await, 0, "it is served once");
    };
    let (settled, ()) = tokio::join!(asked, served);
    assert!(matches!(settled, SendResult::Delivered(_)), "{settled:?}");
    assert_eq!(stage.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_pace_of_a_bot_holds_over_all_nodes() {
    let stage = Stage::set(&[]).await.paced(pace(1), pace(1));
    let (owner, other) = (stage.life("node-1").await, stage.life("node-2").await);
    stage.says(&owner, "c1", "one").await;

    let served = async {
        sleep(Duration::from_millis(10)).await;
        stage.sweep(&owner).await;
    };
    tokio::join!(stage.says(&other, "c2", "two"), stage.says(&owner, "c1", "three"), served);
    let mut seconds = stage.seconds();
    seconds.dedup();
    assert_eq!(seconds.len(), 3, "one in a second: {seconds:?}");
}

#[tokio::test(start_paused = true)]
async fn a_bot_whose_owner_is_gone_is_taken_over() {
    let stage = Stage::set(&[]).await;
    let (owner, other) = (stage.life("node-1").await, stage.life("node-2").await);
    stage.says(&owner, "c1", "mine").await;

    let gone = async {
        sleep(Duration::from_millis(100)).await;
        // Its next life owns nothing.
        drop(stage.life("node-1").await);
        assert_eq!(stage.sweep(&other).await, 0, "who asked for it makes it");
    };
    let (settled, ()) = tokio::join!(stage.says(&other, "c1", "from elsewhere"), gone);
    assert!(matches!(settled, SendResult::Delivered(_)), "{settled:?}");
    assert_eq!(stage.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_was_taken_over_says_nothing_more() {
    let stage = Stage::set(&[]).await.paced(pace(1), pace(1));
    let (paused, other) = (stage.life("node-1").await, stage.life("node-2").await);
    stage.says(&paused, "c1", "one").await;

    let taken_over = async {
        sleep(Duration::from_millis(100)).await;
        // While it waits for its rate limit, other nodes consider it dead; it does not know.
        let epoch = stage.owner(&stage.node("looks").await).await.node.epoch;
        stage.store.end(&nightdesk_types::Node { name: "node-1".to_owned(), epoch }).await.unwrap();
        assert_eq!(stage.sweep(&other).await, 1);
    };
    let (settled, ()) = tokio::join!(stage.says(&paused, "c1", "two"), taken_over);
    assert!(matches!(settled, SendResult::Delivered(_)), "by the other: {settled:?}");
    assert_eq!(stage.calls().len(), 2, "once");
}

#[tokio::test(start_paused = true)]
async fn what_nobody_begins_in_time_is_never_said() {
    let stage = Stage::set(&[]).await;
    let (owner, other) = (stage.life("node-1").await, stage.life("node-2").await);
    stage.says(&owner, "c1", "mine").await;
    let settled = stage.says(&other, "c1", "nobody comes").await;

    assert_eq!(settled, SendResult::without_turn());
    assert_eq!(stage.sweep(&owner).await, 0, "nobody waits for it any more");
    assert_eq!(stage.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_the_owner_is_at_when_time_is_up_is_in_doubt() {
    let stage = Stage::set(&[Does::Takes, Does::Hangs]).await;
    let (owner, other) = (stage.life("node-1").await, stage.life("node-2").await);
    stage.says(&owner, "c1", "mine").await;

    let served = async {
        sleep(Duration::from_secs(20)).await;
        drop(timeout(Duration::from_mins(1), stage.sweep(&owner)).await);
    };
    let (settled, ()) = tokio::join!(stage.says(&other, "c1", "hangs"), served);
    assert_eq!(settled, SendResult::Ambiguous);
    assert_eq!(stage.calls().len(), 2);
}
