//! Tests of the rate of calls.

use std::time::Duration;

use nightdesk_egress::SendResult;
use nightdesk_types::limits::SEND_DONE_WITHIN;
use tokio::time::Instant;

use crate::stage::{Does, Stage, long, pace};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn calls_keep_the_pace_of_their_chat() {
    let stage = Stage::set(&[]).await.paced(pace(1), pace(1_000));
    let egress = stage.life("node-1").await;
    let text = long(3);
    let both = tokio::join!(stage.says(&egress, "c1", &text), stage.says(&egress, "c2", "hi"));

    assert!(matches!(both.1, SendResult::Delivered(_)));
    assert_eq!(stage.seconds(), [0, 0, 1, 2], "the other chat does not wait");
}

#[tokio::test(start_paused = true)]
async fn calls_keep_the_pace_of_their_bot() {
    let stage = Stage::set(&[]).await.paced(pace(1_000), pace(1));
    let egress = stage.life("node-1").await;
    tokio::join!(stage.says(&egress, "c1", "one"), stage.says(&egress, "c2", "two"));

    assert_eq!(stage.seconds(), [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_platform_that_did_nothing_is_called_again_when_it_said() {
    let stage = Stage::set(&[Does::Limits(SECOND * 5)]).await;
    let egress = stage.life("node-1").await;
    let (first, second, other) = tokio::join!(
        stage.says(&egress, "c1", "one"),
        stage.says(&egress, "c1", "two"),
        stage.says(&egress, "c2", "three"),
    );

    for settled in [first, second, other] {
        assert!(matches!(settled, SendResult::Delivered(_)), "{settled:?}");
    }
    let said: Vec<_> = stage.calls().into_iter().map(|call| (call.text, call.at / 1_000)).collect();
    let said: Vec<_> = said.iter().map(|(text, at)| (text.as_str(), *at)).collect();
    assert_eq!(said, [("one", 0), ("three", 0), ("one", 5), ("two", 5)]);
}

#[tokio::test(start_paused = true)]
async fn a_platform_is_never_hammered() {
    let stage = Stage::set(&[Does::Limits(Duration::ZERO); 100]).await;
    let began = Instant::now();
    let settled = stage.says(&*stage.life("node-1").await, "c1", "one").await;

    assert!(matches!(&settled, SendResult::Failed(why) if why.contains("network")), "{settled:?}");
    assert!(began.elapsed() <= SEND_DONE_WITHIN);
    assert!(stage.calls().len() <= 28, "at most once a second");
}

#[tokio::test(start_paused = true)]
async fn what_must_wait_too_long_fails_at_once() {
    let stage = Stage::set(&[Does::Limits(SECOND * 60)]).await;
    let egress = stage.life("node-1").await;
    let began = Instant::now();
    for _ in 0..2 {
        let settled = stage.says(&egress, "c1", "one").await;
        assert!(
            matches!(&settled, SendResult::Failed(why) if why.contains("network")),
            "{settled:?}"
        );
    }

    stage.says(&egress, "c1", "two").await;
    assert_eq!((began.elapsed(), stage.calls().len()), (Duration::ZERO, 1));
}
