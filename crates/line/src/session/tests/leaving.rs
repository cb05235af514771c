//! Tests for lines of a stopping node.

use super::*;

#[test]
fn a_line_that_leaves_gets_its_acks_and_answers_first() {
    let mut session = live();
    let send = r#"{"type":"outbound","requestId":"r1","action":{"op":"send","chat_id":"c","content":"x"}}"#;
    session.step(at(HOLD_BACK), read(vec![entry(1), entry(2)]));
    session.step(at(HOLD_BACK), heard(send));

    assert_eq!(session.step(at(HOLD_BACK), LineInput::Drain), []);
    assert_eq!(session.step(at(HOLD_BACK), LineInput::Rung(Some(Seq::new(3)))), [], "nothing new");
    assert_eq!(session.step(at(HOLD_BACK), ack_of(1)), [range(1, 1)]);
    assert_eq!(session.step(at(HOLD_BACK), ack_of(2)), [range(2, 2)]);
    let request = RequestId::new("r1".to_owned()).unwrap();
    let answered = LineInput::Sent(request, Box::new(Outcome::delivered(None)));
    let effects = session.step(at(HOLD_BACK), answered);
    assert!(matches!(effects[..], [LineEffect::Say(_), LineEffect::Close(Close::Restarting), _]));
    assert_eq!(
        end_of(&effects),
        Some(CloseRecord { code: 1012, tried: None, closed_by: ClosingSide::Desk })
    );
}

#[test]
fn a_line_that_leaves_does_not_wait_for_ever() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1)]));
    assert_eq!(session.step(at(HOLD_BACK), LineInput::Drain), []);

    assert_eq!(session.deadline(), Some(at(HOLD_BACK + LEAVE_WAIT).moment));
    let effects = session.step(at(HOLD_BACK + LEAVE_WAIT), LineInput::Tick);
    assert_eq!(
        end_of(&effects),
        Some(CloseRecord { code: 1012, tried: None, closed_by: ClosingSide::Desk }),
        "its entry comes again"
    );
}

#[test]
fn a_line_that_leaves_says_nothing_it_had_begun_to_read() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1)]));
    session.step(at(HOLD_BACK), LineInput::Rung(Some(Seq::new(2))));
    session.step(at(HOLD_BACK), LineInput::Drain);

    assert_eq!(session.step(at(HOLD_BACK), read(vec![entry(2)])), []);
}

#[test]
fn a_line_that_leaves_does_not_want_to_read_again() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1)]));
    session.step(at(HOLD_BACK), LineInput::Rung(Some(Seq::new(2))));
    session.step(at(HOLD_BACK), LineInput::ReadFailed);
    session.step(at(HOLD_BACK), LineInput::Drain);

    let later = HOLD_BACK + READ_AGAIN;
    session.step(at(later), LineInput::Tick);
    let next = session.deadline().expect("it does not wait for ever");
    assert!(next > at(later).moment, "or its driver would ask it without a pause");
}
