//! Sessions that end.

use jiff::SignedDuration;
use nightdesk_testkit::cases::begin;
use nightdesk_types::Clock;

use super::*;

/// Discord's clock is not behind the one that the store lives by.
async fn stage() -> Stage {
    let (ours, real) = (FakeClock::default().now(), SystemClock::started().now());
    stage_ahead_by(ours.duration_since(real).max(SignedDuration::ZERO).unsigned_abs()).await
}

#[tokio::test]
async fn what_is_said_while_the_session_is_lost_comes_once_and_the_operator_is_told() {
    let case = begin("discord", "fault", "a session lost on a whole desk");
    let stage = stage().await;
    let mut gateway = stage.on_a_line().await;
    stage.arrive().await;
    let says = |text: &str| stage.fake.say(ANN, GENERAL, &format!("<@{BOT}> {text}"));
    says("1");
    assert_eq!(heard(&mut gateway).await["text"], json!("1"));

    // The session is gone, and what is said now is told to nobody.
    stage.fake.order(Order::Invalid { resumable: false });
    says("2");
    let again = |fake: &FakeDiscord| fake.identifies().len() > 1;
    assert!(stage.fake.until(PATIENCE, again).await, "it begins anew");
    says("3");
    for text in ["2", "3"] {
        assert_eq!(heard(&mut gateway).await["text"], json!(text));
    }
    assert_eq!(stage.desk.notices(&stage.household).await.len(), 1, "it is told of");
    case.passed();
}

#[tokio::test]
async fn what_could_not_be_filled_is_owed_and_costs_no_other_session() {
    let stage = stage().await;
    let mut gateway = stage.on_a_line().await;
    stage.arrive().await;
    let says = |text: &str| stage.fake.say(ANN, GENERAL, &format!("<@{BOT}> {text}"));
    says("1");
    assert_eq!(heard(&mut gateway).await["text"], json!("1"));

    let tried = stage.desk.store.accepts_begun();
    stage.desk.store.fail_on_chat(Some(&GENERAL.to_string()));
    stage.fake.order(Order::Invalid { resumable: false });
    says("2");
    let fails = |_: &FakeDiscord| stage.desk.store.accepts_begun() > tried + 1;
    while !stage.fake.until(Duration::from_millis(50), fails).await {}
    let taken =
        stage.desk.desk.inbox.store().take_source(stage.household.scope, stage.bot, "gateway");
    let (_, cursor) = taken.await.expect("take the source");
    assert!(cursor.is_some_and(|cursor| cursor.starts_with("gap ")), "it is owed");

    stage.desk.store.fail_on_chat(None);
    says("3");
    for text in ["2", "3"] {
        assert_eq!(heard(&mut gateway).await["text"], json!(text));
    }
    assert_eq!(stage.fake.identifies().len(), 2, "the session goes on");
}
