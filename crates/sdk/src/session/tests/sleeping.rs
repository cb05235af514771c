//! The conditions under which a session falls asleep.

use super::sending::{asked, requests, result};
use super::*;

const SLEEP_AFTER: Duration = Duration::from_mins(1);
const GOING_IDLE: &str = r#"{"type":"going_idle"}"#;
const GOING_IDLE_ACK: &str = r#"{"type":"going_idle_ack"}"#;

/// Returns a session that may sleep, on a line that is live since zero.
fn sleepy() -> AgentSession {
    live().sleeping_after(SLEEP_AFTER)
}

/// Lets time pass as a driver does: with a tick at each deadline, and with a desk that is alive.
fn pass(session: &mut AgentSession, until: Moment) -> Vec<SessionEffect> {
    let mut effects = Vec::new();
    while let Some(next) = session.deadline().filter(|next| *next <= until) {
        effects.extend(session.step(next, Input::Alive));
        effects.extend(session.step(next, Input::Tick));
    }
    effects
}

/// Returns a session that just announced that it goes idle.
fn falling_asleep() -> (AgentSession, Moment) {
    let mut session = sleepy();
    let effects = pass(&mut session, at(SLEEP_AFTER));
    assert_eq!(said(&effects), [GOING_IDLE]);
    (session, at(SLEEP_AFTER))
}

fn is_quiet_at(session: &mut AgentSession, moment: Moment) -> bool {
    said(&pass(session, moment)).contains(&GOING_IDLE.to_owned())
}

#[test]
fn a_quiet_session_says_so_and_sleeps_when_the_desk_knows() {
    let mut session = sleepy();

    assert!(!is_quiet_at(&mut session, at(SLEEP_AFTER - secs(1))));
    assert_eq!(said(&pass(&mut session, at(SLEEP_AFTER))), [GOING_IDLE], "at its own deadline");
    let asleep = session.step(at(SLEEP_AFTER), heard(GOING_IDLE_ACK));
    assert_eq!(
        asleep,
        [SessionEffect::Close(Close::Done), SessionEffect::Show(Status::Over(AgentEnd::Asleep))]
    );
    assert!(session.is_over() && session.deadline().is_none(), "it does not dial again");
}

#[test]
fn without_the_setting_nobody_sleeps() {
    assert!(!is_quiet_at(&mut live(), at(SLEEP_AFTER * 100)));
}

#[test]
fn a_desk_that_does_not_answer_is_not_waited_for() {
    let (mut session, now) = falling_asleep();

    assert_eq!(session.deadline(), Some(now + IDLE_WAIT));
    let asleep = session.step(now + IDLE_WAIT, Input::Tick);
    assert_eq!(asleep[0], SessionEffect::Close(Close::Done));
    assert!(is_over(&asleep, AgentEnd::Asleep));
}

#[test]
fn quiet_begins_when_the_line_is_live() {
    let mut session = AgentSession::new(at(secs(0)), vec![hello()], SEED).sleeping_after(secs(20));
    open(&mut session, at(secs(0)));
    assert!(!is_quiet_at(&mut session, at(secs(25))), "nobody could have said anything");

    session.step(at(secs(25)), descriptor("discord"));
    assert!(!is_quiet_at(&mut session, at(secs(44))));
    assert!(is_quiet_at(&mut session, at(secs(45))));
}

#[test]
fn without_a_line_nobody_sleeps() {
    let mut session = sleepy();
    session.step(at(SLEEP_AFTER - secs(1)), ended(1006));
    let mut now = at(SLEEP_AFTER);

    for _ in 0..20 {
        now = now + LADDER_TOP;
        session.step(now, Input::Tick);
        session.step(now, Input::DialFailed(Trouble::Refused { status: 503 }));
    }
    assert!(!session.is_over(), "what it was woken for may still be there");
}

#[test]
fn a_turn_keeps_it_awake_however_long_it_takes() {
    let mut session = sleepy();
    let turn = begun(&session.step(at(secs(1)), entry("a", "c1"))).remove(0);
    session.step(at(secs(2)), Input::Taken(turn.ticket));
    let ended_at = SLEEP_AFTER * 10;

    assert!(!is_quiet_at(&mut session, at(ended_at)));
    session.step(at(ended_at), Input::Handled(turn.ticket, TurnResult::Well));
    assert!(!is_quiet_at(&mut session, at(ended_at + SLEEP_AFTER - secs(1))));
    assert!(is_quiet_at(&mut session, at(ended_at + SLEEP_AFTER)), "quiet since its end");
}

#[test]
fn an_unacked_entry_keeps_it_awake_until_it_came_again() {
    let mut session = sleepy();
    let turn = begun(&session.step(at(secs(1)), entry("a", "c1"))).remove(0);
    session.step(at(secs(2)), Input::Handled(turn.ticket, TurnResult::Badly));

    assert!(!is_quiet_at(&mut session, at(SLEEP_AFTER * 2)));
    let now = on_the_next_line(&mut session, at(SLEEP_AFTER * 2));
    let again = begun(&session.step(now, entry("a", "c1"))).remove(0);
    session.step(now, Input::Handled(again.ticket, TurnResult::Well));
    assert!(is_quiet_at(&mut session, now + SLEEP_AFTER));
}

#[test]
fn an_open_send_keeps_it_awake_and_its_answer_is_work() {
    let wait = secs(20);
    let mut session = live().sleeping_after(wait);
    let request = requests(&session.step(at(secs(0)), asked(1, "text"))).remove(0);

    assert!(!is_quiet_at(&mut session, at(wait + secs(5))));
    session.step(at(wait + secs(5)), result(&request));
    assert!(!is_quiet_at(&mut session, at(wait * 2 + secs(4))));
    assert!(is_quiet_at(&mut session, at(wait * 2 + secs(5))));
}

#[test]
fn a_send_that_is_never_answered_keeps_it_awake_until_who_asked_knows() {
    use nightdesk_types::limits::SEND_ANSWER_WAIT;
    let wait = secs(10);
    let mut session = live().sleeping_after(wait);
    session.step(at(secs(0)), asked(1, "text"));

    let gave_up = pass(&mut session, at(SEND_ANSWER_WAIT));
    assert!(gave_up.contains(&SessionEffect::Answer(CallId(1), Err(RequestFailure::Unknown))));
    assert!(!is_quiet_at(&mut session, at(SEND_ANSWER_WAIT + wait - secs(1))), "it may ask more");
    assert!(is_quiet_at(&mut session, at(SEND_ANSWER_WAIT + wait)));
}

#[test]
fn who_is_busy_stays_awake() {
    let mut session = sleepy();
    session.step(at(secs(1)), Input::Busy(2));
    session.step(at(SLEEP_AFTER), Input::Busy(1));

    assert!(!is_quiet_at(&mut session, at(SLEEP_AFTER * 3)));
    session.step(at(SLEEP_AFTER * 3), Input::Busy(0));
    assert!(!is_quiet_at(&mut session, at(SLEEP_AFTER * 4 - secs(1))));
    assert!(is_quiet_at(&mut session, at(SLEEP_AFTER * 4)));
}

#[test]
fn what_is_not_understood_is_no_work() {
    let mut session = sleepy();
    session.step(at(SLEEP_AFTER / 2), heard(r#"{"type":"of_a_newer_contract"}"#));
    session.step(at(SLEEP_AFTER / 2), heard("noise"));

    assert!(is_quiet_at(&mut session, at(SLEEP_AFTER)));
}

#[test]
fn whatever_comes_before_the_ack_is_handled_as_usual_and_takes_the_sleep_back() {
    let stop =
        r#"{"type":"interrupt_inbound","session_key":"agent:main:discord:dm:c1","chat_id":"c1"}"#;
    let cases = [
        ("an entry", entry("a", "c1")),
        ("a stop", heard(stop)),
        ("a wish", asked(1, "text")),
        ("work of its own", Input::Busy(1)),
    ];
    for (name, input) in cases {
        let (mut session, now) = falling_asleep();
        session.step(now, input);

        assert_eq!(session.step(now, heard(GOING_IDLE_ACK)), [], "{name}");
        assert!(!session.is_over(), "{name}");
        assert!(!is_quiet_at(&mut session, now + (SLEEP_AFTER - secs(1))), "{name}");
    }
}

#[test]
fn after_a_sleep_was_taken_back_it_sleeps_when_it_is_quiet_again() {
    let (mut session, now) = falling_asleep();
    let turn = begun(&session.step(now, entry("a", "c1"))).remove(0);
    session.step(now, heard(GOING_IDLE_ACK));
    let done = session.step(now, Input::Handled(turn.ticket, TurnResult::Well));
    assert_eq!(said(&done), [ack("a")]);

    assert!(is_quiet_at(&mut session, now + SLEEP_AFTER));
    assert!(is_over(&session.step(now + SLEEP_AFTER, heard(GOING_IDLE_ACK)), AgentEnd::Asleep));
}

#[test]
fn a_line_that_is_lost_before_the_desk_knows_is_dialled_again() {
    for code in [1006, 1012, Close::Revoked.code()] {
        let (mut session, now) = falling_asleep();
        session.step(now, ended(code));

        assert!(!session.is_over(), "{code}");
    }
}

#[test]
fn an_agent_that_is_told_to_go_idle_is_not_kept_by_what_comes() {
    let (mut session, now) = falling_asleep();

    assert_eq!(session.step(now, Input::GoIdle), [], "it was said already");
    let turn = begun(&session.step(now, entry("a", "c1"))).remove(0);
    session.step(now, heard(GOING_IDLE_ACK));
    let done = session.step(now, Input::Handled(turn.ticket, TurnResult::Well));
    assert!(is_over(&done, AgentEnd::Idle(Idle::Settled)));
}
