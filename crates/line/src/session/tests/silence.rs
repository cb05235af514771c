//! Tests for silent lines and for the ends of lines.

use super::*;

/// Advances the time on a line whose pings are answered.
fn tick(session: &mut LineSession, when: Duration) -> Vec<LineEffect> {
    session.step(at(when - Duration::from_millis(1)), LineInput::Pong);
    session.step(at(when), LineInput::Tick)
}

#[test]
fn an_entry_nobody_acks_has_the_agent_called_once_and_the_line_stays() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1), entry(2)]));
    let suspect = HOLD_BACK + SUSPECT_ACK;

    assert!(!tick(&mut session, suspect - secs(1)).contains(&LineEffect::Suspect), "only late");
    assert_eq!(session.deadline(), Some(at(suspect).moment));
    assert!(tick(&mut session, suspect).contains(&LineEffect::Suspect));
    assert!(!tick(&mut session, suspect + secs(1)).contains(&LineEffect::Suspect), "once");
    assert!(!session.is_closed());
    let acked_at = suspect + secs(1);
    let acked = session.step(at(acked_at), ack_of(1));
    assert!(!acked.contains(&LineEffect::Suspect), "the client is at the second now: {acked:?}");
    assert!(tick(&mut session, acked_at + SUSPECT_ACK).contains(&LineEffect::Suspect));
}

#[test]
fn a_call_that_could_not_be_asked_for_is_asked_for_again() {
    let suspect = HOLD_BACK + SUSPECT_ACK;
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1)]));
    assert!(tick(&mut session, suspect).contains(&LineEffect::Suspect));

    let failed = session.step(at(suspect), LineInput::SuspectFailed);
    assert!(!failed.contains(&LineEffect::Suspect), "not at once: {failed:?}");
    assert!(tick(&mut session, suspect + SUSPECT_AGAIN).contains(&LineEffect::Suspect));
    let later = suspect + SUSPECT_AGAIN + SUSPECT_AGAIN;
    assert!(!tick(&mut session, later).contains(&LineEffect::Suspect), "once");
}

#[test]
fn a_line_that_answers_no_ping_is_suspect_only_while_something_waits() {
    let silent = PING_EVERY + SUSPECT_PONG;
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![]));
    session.step(at(PING_EVERY), LineInput::Tick);
    session.step(at(silent), LineInput::Tick);
    let rung = session.step(at(silent), LineInput::Rung(Some(Seq::new(101))));
    assert!(!rung.contains(&LineEffect::Suspect), "{rung:?}");

    let handed = session.step(at(silent), read(vec![entry(101)]));
    assert!(handed.contains(&LineEffect::Suspect), "{handed:?}");
    session.step(at(silent), LineInput::Pong);
    let again = session.step(at(silent + secs(1)), LineInput::Tick);
    assert!(!again.contains(&LineEffect::Suspect), "it answered: {again:?}");
}

#[test]
fn who_ended_a_line_is_told() {
    type Story = (&'static str, Vec<(Duration, LineInput)>, ClosingSide);
    let idle = || heard(r#"{"type":"going_idle"}"#);
    let gone = || LineInput::Ended { code: 1000 };
    let cases: [Story; 5] = [
        ("hung up", vec![(HOLD_BACK, gone())], ClosingSide::Client),
        ("went idle", vec![(HOLD_BACK, idle()), (HOLD_BACK, gone())], ClosingSide::Idle),
        (
            "went idle, and stayed after all",
            vec![(HOLD_BACK, idle()), (HOLD_BACK + IDLE_REST + secs(1), gone())],
            ClosingSide::Client,
        ),
        ("restarted", vec![(HOLD_BACK, LineInput::Drain)], ClosingSide::Desk),
        ("vanished", vec![(DEAD_LINE, LineInput::Tick)], ClosingSide::Client),
    ];
    for (name, inputs, want) in cases {
        let mut session = live();
        session.step(at(HOLD_BACK), read(vec![]));
        let stepped = inputs.into_iter().flat_map(|(when, input)| session.step(at(when), input));
        let effects: Vec<LineEffect> = stepped.collect();
        assert_eq!(end_of(&effects).expect(name).closed_by, want, "{name}");
    }
}

#[test]
fn a_silent_line_is_dead_after_its_time() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![]));

    session.step(at(DEAD_LINE - Duration::from_millis(1)), LineInput::Tick);
    assert!(!session.is_closed());
    session.step(at(DEAD_LINE), LineInput::Tick);
    assert!(session.is_closed());
}
