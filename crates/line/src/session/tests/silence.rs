//! Tests for silent lines and for the ends of lines.

use super::*;

/// Advances the time on a line whose pings are answered.
fn tick(session: &mut Session, when: Duration) -> Vec<Effect> {
    session.step(at(when - Duration::from_millis(1)), Input::Pong);
    session.step(at(when), Input::Tick)
}

#[test]
fn an_entry_nobody_acks_has_the_agent_called_once_and_the_line_stays() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1), entry(2)]));
    let suspect = HOLD_BACK + SUSPECT_ACK;

    assert!(!tick(&mut session, suspect - secs(1)).contains(&Effect::Suspect), "only late");
    assert_eq!(session.deadline(), Some(at(suspect).moment));
    assert!(tick(&mut session, suspect).contains(&Effect::Suspect));
    assert!(!tick(&mut session, suspect + secs(1)).contains(&Effect::Suspect), "once");
    assert!(!session.is_closed());
    let acked_at = suspect + secs(1);
    let acked = session.step(at(acked_at), ack_of(1));
    assert!(!acked.contains(&Effect::Suspect), "the client is at the second now: {acked:?}");
    assert!(tick(&mut session, acked_at + SUSPECT_ACK).contains(&Effect::Suspect));
}

#[test]
fn a_call_that_could_not_be_asked_for_is_asked_for_again() {
    let suspect = HOLD_BACK + SUSPECT_ACK;
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1)]));
    assert!(tick(&mut session, suspect).contains(&Effect::Suspect));

    let failed = session.step(at(suspect), Input::SuspectFailed);
    assert!(!failed.contains(&Effect::Suspect), "not at once: {failed:?}");
    assert!(tick(&mut session, suspect + SUSPECT_AGAIN).contains(&Effect::Suspect));
    let later = suspect + SUSPECT_AGAIN + SUSPECT_AGAIN;
    assert!(!tick(&mut session, later).contains(&Effect::Suspect), "once");
}

#[test]
fn a_line_that_answers_no_ping_is_suspect_only_while_something_waits() {
    let silent = PING_EVERY + SUSPECT_PONG;
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![]));
    session.step(at(PING_EVERY), Input::Tick);
    session.step(at(silent), Input::Tick);
    let rung = session.step(at(silent), Input::Rung(Some(Seq::new(101))));
    assert!(!rung.contains(&Effect::Suspect), "{rung:?}");

    let handed = session.step(at(silent), read(vec![entry(101)]));
    assert!(handed.contains(&Effect::Suspect), "{handed:?}");
    session.step(at(silent), Input::Pong);
    let again = session.step(at(silent + secs(1)), Input::Tick);
    assert!(!again.contains(&Effect::Suspect), "it answered: {again:?}");
}

#[test]
fn who_ended_a_line_is_told() {
    type Story = (&'static str, Vec<(Duration, Input)>, Parting);
    let idle = || heard(r#"{"type":"going_idle"}"#);
    let gone = || Input::Ended { code: 1000 };
    let cases: [Story; 5] = [
        ("hung up", vec![(HOLD_BACK, gone())], Parting::Client),
        ("went idle", vec![(HOLD_BACK, idle()), (HOLD_BACK, gone())], Parting::Idle),
        (
            "went idle, and stayed after all",
            vec![(HOLD_BACK, idle()), (HOLD_BACK + IDLE_REST + secs(1), gone())],
            Parting::Client,
        ),
        ("restarted", vec![(HOLD_BACK, Input::Drain)], Parting::Desk),
        ("vanished", vec![(DEAD_LINE, Input::Tick)], Parting::Client),
    ];
    for (name, inputs, want) in cases {
        let mut session = live();
        session.step(at(HOLD_BACK), read(vec![]));
        let stepped = inputs.into_iter().flat_map(|(when, input)| session.step(at(when), input));
        let effects: Vec<Effect> = stepped.collect();
        assert_eq!(end_of(&effects).expect(name).parting, want, "{name}");
    }
}

#[test]
fn a_silent_line_is_dead_after_its_time() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![]));

    session.step(at(DEAD_LINE - Duration::from_millis(1)), Input::Tick);
    assert!(!session.is_closed());
    session.step(at(DEAD_LINE), Input::Tick);
    assert!(session.is_closed());
}
