use serde_json::{Value, json};

use super::*;

fn at(seq: u64) -> Cursor {
    Cursor { session: "s1".to_owned(), url: "wss://resume".to_owned(), seq }
}

fn hear(talk: &mut Talk, frame: &Value) -> Vec<Effect> {
    talk.hear(&frame.to_string())
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

fn told(effects: Vec<Effect>) -> Told {
    match <[Effect; 1]>::try_from(effects) {
        Ok([Effect::Tell(told)]) => told,
        other => panic!("{other:?}"),
    }
}

/// Creates a conversation that resumes after sequence number 5.
fn resumed() -> Talk {
    let mut talk = Talk::new(Some(at(5)), true, None);
    hear(&mut talk, &hello());
    talk
}

#[test]
fn a_session_is_gone_on_with_and_without_one_a_new_one_is_begun() {
    let beats = Effect::BeatEvery(Duration::from_millis(41_250));
    let mut old = Talk::new(Some(at(5)), true, None);
    assert_eq!(hear(&mut old, &hello()), [beats.clone(), Effect::Resume]);
    let mut new = Talk::new(None, false, None);
    assert_eq!(hear(&mut new, &hello()), [beats, Effect::Identify]);
}

#[test]
fn a_new_session_after_another_says_that_something_may_be_missing() {
    for is_after_another in [false, true] {
        let mut talk = Talk::new(None, is_after_another, None);
        hear(&mut talk, &hello());
        let told = told(hear(&mut talk, &ready()));
        assert_eq!(told.is_after_gap, is_after_another);
        assert_eq!(
            told.cursor,
            Cursor { session: "s2".to_owned(), url: "wss://other".to_owned(), seq: 1 }
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
    assert_eq!(hear(&mut talk, &dispatch(8)), [Effect::Over(Ended::Gap)]);
    assert_eq!(talk.session().unwrap().seq, 5);

    let mut again = Talk::new(Some(at(5)), true, Some(5));
    hear(&mut again, &hello());
    let told = told(hear(&mut again, &dispatch(8)));
    assert_eq!((told.cursor.seq, told.is_after_gap), (8, true));
}

#[test]
fn a_talk_ends_as_discord_says() {
    let cases = [
        (json!({ "op": 7, "d": null }), Ended::Reconnect),
        (json!({ "op": 9, "d": true }), Ended::Invalid { is_resumable: true }),
        (json!({ "op": 9, "d": false }), Ended::Invalid { is_resumable: false }),
        (json!({ "op": 9 }), Ended::Invalid { is_resumable: false }),
        (json!({ "op": 10, "d": "odd" }), Ended::NotReached),
        (json!({ "op": 0, "t": "READY", "s": 1, "d": {} }), Ended::Unanswered),
    ];
    for (frame, ended) in cases {
        assert_eq!(hear(&mut resumed(), &frame), [Effect::Over(ended)], "{frame}");
    }
}

#[test]
fn a_heart_that_is_not_heard_is_dead() {
    let mut talk = resumed();
    assert_eq!(talk.beat(true), Effect::Beat);
    assert_eq!(hear(&mut talk, &json!({ "op": 11 })), []);
    assert_eq!(talk.beat(true), Effect::Beat);
    assert_eq!(talk.beat(false), Effect::Beat, "the answer could not be read");
    assert_eq!(talk.beat(true), Effect::Over(Ended::Zombie));
    assert_eq!(hear(&mut talk, &json!({ "op": 1 })), [Effect::Beat]);
}

#[test]
fn nobody_waits_for_ever() {
    let mut talk = Talk::new(None, false, None);
    assert_eq!(talk.patience().unwrap().1, Ended::NotReached);
    hear(&mut talk, &hello());
    assert_eq!(talk.patience().unwrap().1, Ended::Unanswered);
    hear(&mut talk, &ready());
    assert_eq!(talk.patience(), None);
}

#[test]
fn what_is_new_or_broken_says_nothing() {
    let mut talk = resumed();
    for text in ["", "[]", "null", "{}", r#"{"op":99}"#, r#"{"op":"0"}"#, r#"{"op":0,"t":"X"}"#] {
        assert_eq!(talk.hear(text), [], "{text}");
    }
    for every in [0, u64::MAX] {
        let effects = hear(&mut talk, &json!({ "op": 10, "d": { "heartbeat_interval": every } }));
        let [Effect::BeatEvery(every), _] = effects[..] else { panic!() };
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
                Some(Effect::Tell(told)) => {
                    proptest::prop_assert_eq!(told.cursor.seq, last + 1);
                    last += 1;
                }
                Some(Effect::Over(ended)) => {
                    proptest::prop_assert_eq!(ended, Ended::Gap);
                    proptest::prop_assert!(seq > last + 1);
                    break;
                }
                None => proptest::prop_assert!(seq <= last),
                Some(other) => panic!("{other:?}"),
            }
        }
    }
}
