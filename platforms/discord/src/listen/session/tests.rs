use serde_json::{Value, json};

use super::*;

fn at(seq: u64) -> SessionCursor {
    SessionCursor { session: "s1".to_owned(), url: "wss://resume".to_owned(), seq }
}

fn hear(talk: &mut GatewaySession, frame: &Value) -> Vec<GatewayEffect> {
    talk.handle_frame(&frame.to_string())
}

fn hello() -> Value {
    json!({ "op": 10, "d": { "heartbeat_interval": 41_250 }, "s": null, "t": null })
}

fn dispatch(seq: u64) -> Value {
    json!({ "op": 0, "t": "MESSAGE_CREATE", "s": seq, "d": { "n": seq } })
}

fn ready() -> Value {
    json!({ "op": 0, "t": "READY", "s": 1, "d": {
        "session_id": "s2", "resume_gateway_url": "wss://other", "v": 10,
    } })
}

fn told(effects: Vec<GatewayEffect>) -> DispatchEvent {
    match <[GatewayEffect; 1]>::try_from(effects) {
        Ok([GatewayEffect::Tell(told)]) => told,
        other => panic!("{other:?}"),
    }
}

/// Creates a conversation that resumes after sequence number 5.
fn resumed() -> GatewaySession {
    let mut talk = GatewaySession::new(Some(at(5)), true, None);
    hear(&mut talk, &hello());
    talk
}

#[test]
fn a_session_is_gone_on_with_and_without_one_a_new_one_is_begun() {
    let beats = GatewayEffect::BeatEvery(Duration::from_millis(41_250));
    let mut old = GatewaySession::new(Some(at(5)), true, None);
    assert_eq!(hear(&mut old, &hello()), [beats.clone(), GatewayEffect::Resume]);
    let mut new = GatewaySession::new(None, false, None);
    assert_eq!(hear(&mut new, &hello()), [beats, GatewayEffect::Identify]);
}

#[test]
fn a_new_session_after_another_says_that_something_may_be_missing() {
    for is_after_another in [false, true] {
        let mut talk = GatewaySession::new(None, is_after_another, None);
        hear(&mut talk, &hello());
        let told = told(hear(&mut talk, &ready()));
        assert_eq!(told.is_after_gap, is_after_another);
        assert_eq!(
            told.cursor,
            SessionCursor { session: "s2".to_owned(), url: "wss://other".to_owned(), seq: 1 }
        );
        assert!(talk.is_live());
    }
}

#[test]
fn events_are_told_in_order_and_repeats_are_not() {
    let mut talk = resumed();
    assert_eq!(hear(&mut talk, &dispatch(4)), [], "it was heard before");
    assert_eq!(hear(&mut talk, &dispatch(5)), []);
    let six = told(hear(&mut talk, &dispatch(6)));
    assert_eq!((six.cursor.seq, six.data.as_str(), six.is_after_gap), (6, r#"{"n":6}"#, false));
    assert_eq!(hear(&mut talk, &dispatch(6)), []);
    assert_eq!(told(hear(&mut talk, &dispatch(7))).cursor.seq, 7);
}

#[test]
fn what_is_missing_is_asked_for_once_and_then_said_to_be_missing() {
    let mut talk = resumed();
    assert_eq!(hear(&mut talk, &dispatch(8)), [GatewayEffect::Over(ConnectionEnd::Gap)]);
    assert_eq!(talk.cursor().unwrap().seq, 5);

    let mut again = GatewaySession::new(Some(at(5)), true, Some(5));
    hear(&mut again, &hello());
    let told = told(hear(&mut again, &dispatch(8)));
    assert_eq!((told.cursor.seq, told.is_after_gap), (8, true));
}

#[test]
fn a_talk_ends_as_discord_says() {
    let cases = [
        (json!({ "op": 7, "d": null }), ConnectionEnd::Reconnect),
        (json!({ "op": 9, "d": true }), ConnectionEnd::Invalid { is_resumable: true }),
        (json!({ "op": 9, "d": false }), ConnectionEnd::Invalid { is_resumable: false }),
        (json!({ "op": 9 }), ConnectionEnd::Invalid { is_resumable: false }),
        (json!({ "op": 10, "d": "odd" }), ConnectionEnd::NotReached),
        (json!({ "op": 0, "t": "READY", "s": 1, "d": {} }), ConnectionEnd::Unanswered),
    ];
    for (frame, ended) in cases {
        assert_eq!(hear(&mut resumed(), &frame), [GatewayEffect::Over(ended)], "{frame}");
    }
}

#[test]
fn a_heart_that_is_not_heard_is_dead() {
    let mut talk = resumed();
    assert_eq!(talk.tick_heartbeat(true), GatewayEffect::Beat);
    assert_eq!(hear(&mut talk, &json!({ "op": 11 })), []);
    assert_eq!(talk.tick_heartbeat(true), GatewayEffect::Beat);
    assert_eq!(talk.tick_heartbeat(false), GatewayEffect::Beat, "the answer could not be read");
    assert_eq!(talk.tick_heartbeat(true), GatewayEffect::Over(ConnectionEnd::Zombie));
    assert_eq!(hear(&mut talk, &json!({ "op": 1 })), [GatewayEffect::Beat]);
}

#[test]
fn nobody_waits_for_ever() {
    let mut talk = GatewaySession::new(None, false, None);
    assert_eq!(talk.phase_deadline().unwrap().1, ConnectionEnd::NotReached);
    hear(&mut talk, &hello());
    assert_eq!(talk.phase_deadline().unwrap().1, ConnectionEnd::Unanswered);
    hear(&mut talk, &ready());
    assert_eq!(talk.phase_deadline(), None);
}

#[test]
fn what_is_new_or_broken_says_nothing() {
    let mut talk = resumed();
    for text in ["", "[]", "null", "{}", r#"{"op":99}"#, r#"{"op":"0"}"#, r#"{"op":0,"t":"X"}"#] {
        assert_eq!(talk.handle_frame(text), [], "{text}");
    }
    for every in [0, u64::MAX] {
        let effects = hear(&mut talk, &json!({ "op": 10, "d": { "heartbeat_interval": every } }));
        let [GatewayEffect::BeatEvery(every), _] = effects[..] else { panic!() };
        assert!((BEAT_MIN..=BEAT_MAX).contains(&every));
    }
}

proptest::proptest! {
    #[test]
    fn every_number_is_told_once_in_order_or_the_talk_is_over(
        seqs in proptest::collection::vec(1_u64..20, 0..60)
    ) {
        let mut talk = resumed();
        let mut last = 5;
        for seq in seqs {
            match hear(&mut talk, &dispatch(seq)).pop() {
                Some(GatewayEffect::Tell(told)) => {
                    proptest::prop_assert_eq!(told.cursor.seq, last + 1);
                    last += 1;
                }
                Some(GatewayEffect::Over(ended)) => {
                    proptest::prop_assert_eq!(ended, ConnectionEnd::Gap);
                    proptest::prop_assert!(seq > last + 1);
                    break;
                }
                None => proptest::prop_assert!(seq <= last),
                Some(other) => panic!("{other:?}"),
            }
        }
    }
}
