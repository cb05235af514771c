//! Tests sessions that end.

use jiff::SignedDuration;
use nightdesk_fake_discord::{Fault, Kind};
use nightdesk_testkit::cases::begin;
use nightdesk_types::Clock;

use super::*;

/// Sets up a stage whose Discord clock is not behind the store's clock.
async fn stage() -> Stage {
    let (ours, real) = (FakeClock::default().now(), SystemClock::start().now());
    stage_ahead_by(ours.duration_since(real).max(SignedDuration::ZERO).unsigned_abs()).await
}

/// The call that reads a channel.
const READ: &str = "GET /channels/{}/messages";

/// Sets up a stage on which one message of Ann's arrived.
async fn heard_once() -> (Stage, TestGateway) {
    let stage = stage().await;
    let mut gateway = stage.on_a_line().await;
    stage.arrive().await;
    stage.says("1");
    assert_eq!(heard(&mut gateway).await["text"], json!("1"));
    (stage, gateway)
}

impl Stage {
    fn says(&self, text: &str) {
        self.fake.say(ANN, GENERAL, &format!("<@{BOT}> {text}"));
    }

    fn lose_session(&self) {
        self.fake.order(Order::Invalid { resumable: false });
    }

    async fn begins_anew(&self) {
        let again = |fake: &FakeDiscord| fake.identifies().len() > 1;
        assert!(self.fake.until(PATIENCE, again).await, "it begins anew");
    }

    /// Makes Ann write while there is no session, with a store that fails on her message.
    async fn fails_to_fill(&self) {
        let tried = self.desk.store.accepts_begun();
        self.desk.store.fail_on_chat(Some(&GENERAL.to_string()));
        self.lose_session();
        self.says("2");
        let fails = |_: &FakeDiscord| self.desk.store.accepts_begun() > tried + 1;
        while !self.fake.until(Duration::from_millis(50), fails).await {}
    }

    /// Returns true if the messages of the gap are still to be read. Listening must begin again after this.
    async fn owes(&self) -> bool {
        let store = self.desk.desk.stops.inbox.store();
        let taken = store.take_source(self.household.scope, self.bot, "gateway").await;
        let (_, cursor) = taken.expect("take the source");
        cursor.is_some_and(|cursor| cursor.starts_with("gap "))
    }
}

#[tokio::test]
async fn what_is_said_while_the_session_is_lost_comes_once_and_the_operator_is_told() {
    let case = begin("discord", "fault", "a session lost on a whole desk");
    let (stage, mut gateway) = heard_once().await;
    // The session is gone, and new messages are not dispatched.
    stage.lose_session();
    stage.says("2");
    stage.begins_anew().await;
    stage.says("3");
    for text in ["2", "3"] {
        assert_eq!(heard(&mut gateway).await["text"], json!(text));
    }
    assert_eq!(stage.desk.notices(&stage.household).await.len(), 1, "it is told of");
    case.passed();
}

#[tokio::test]
async fn what_could_not_be_filled_is_owed_and_costs_no_other_session() {
    let (stage, mut gateway) = heard_once().await;
    stage.fails_to_fill().await;
    assert!(stage.owes().await);

    stage.desk.store.fail_on_chat(None);
    stage.says("3");
    for text in ["2", "3"] {
        assert_eq!(heard(&mut gateway).await["text"], json!(text));
    }
    assert_eq!(stage.fake.identifies().len(), 2, "the session goes on");
}

#[tokio::test]
async fn a_gap_of_many_pages_is_filled_to_its_end() {
    let (stage, mut gateway) = heard_once().await;
    stage.lose_session();
    for _ in 0..1_050 {
        stage.fake.say(BOB, GENERAL, "nobody hears Bob");
    }
    stage.says("2");
    stage.begins_anew().await;
    assert_eq!(heard(&mut gateway).await["text"], json!("2"));
    assert_eq!(stage.desk.notices(&stage.household).await.len(), 1, "nothing is missing");
}

#[tokio::test]
async fn a_platform_that_does_not_answer_for_a_while_is_asked_again() {
    let (stage, mut gateway) = heard_once().await;
    let faults = [
        Kind::HangUp,
        Kind::Refuse { status: 500, code: 0 },
        Kind::TooMany { retry_after: 0.1, global: true },
    ];
    for fault in faults {
        stage.fake.fault(Fault::at(READ, 1, fault));
    }
    stage.lose_session();
    stage.says("2");
    stage.begins_anew().await;
    stage.says("3");
    for text in ["2", "3"] {
        assert_eq!(heard(&mut gateway).await["text"], json!(text));
    }
    assert_eq!(stage.fake.identifies().len(), 2, "the session goes on");
}

#[tokio::test]
async fn a_channel_that_is_closed_to_the_bot_holds_up_nothing() {
    let (stage, mut gateway) = heard_once().await;
    stage.fake.fault(Fault::at(READ, 1, Kind::Refuse { status: 403, code: 50_001 }));
    stage.lose_session();
    stage.says("2");
    stage.begins_anew().await;
    stage.says("3");
    assert_eq!(heard(&mut gateway).await["text"], json!("3"));
}

#[tokio::test]
async fn what_a_node_was_still_asking_for_when_it_stopped_is_owed() {
    let (stage, mut gateway) = heard_once().await;
    let alone = stage.fake.direct(BOT, ANN);
    stage.fake.say(ANN, alone, "only to you");
    assert_eq!(heard(&mut gateway).await["text"], json!("only to you"));
    stage.fails_to_fill().await;
    let asked = stage.fake.calls_of(READ).len();
    let later = Kind::TooMany { retry_after: PATIENCE.as_secs_f64(), global: false };
    stage.fake.fault(Fault::at(READ, 1, later));
    stage.desk.store.fail_on_chat(None);
    let asks = |fake: &FakeDiscord| fake.calls_of(READ).len() > asked;
    assert!(stage.fake.until(PATIENCE, asks).await, "it is asked for");
    stage.desk.stop().await;

    assert!(stage.owes().await, "one chat was not asked for yet");
}
