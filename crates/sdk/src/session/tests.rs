#![expect(clippy::unchecked_time_subtraction, reason = "a test that goes below zero should stop")]

use std::num::NonZeroU32;
use std::time::Duration;

use nightdesk_protocol::descriptor::Descriptor;
use nightdesk_types::Moment;
use nightdesk_types::limits::{DEAD_LINE, PING_EVERY};

use super::*;
use crate::limits::{GREET_WAIT, IDLE_WAIT, LADDER_TOP, LIVED, RESTART_SPREAD};
use crate::status::{AgentEnd, Idle};

mod taking;
mod sending;
mod sleeping;

pub(super) const SEED: Seed = Seed { requests: [7; 16], dials: 7 };

pub(super) fn at(after: Duration) -> Moment {
    Moment::after_start(after)
}

pub(super) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) fn heard(frame: &str) -> Input {
    Input::Heard(ToGateway::decode(frame.trim_end().as_bytes()))
}

pub(super) fn descriptor(platform: &str) -> Input {
    let length = NonZeroU32::new(2_000).unwrap();
    heard(Frame::descriptor(&Descriptor::new(platform, platform, length)).as_str())
}

pub(super) fn hello() -> Frame {
    let hello = r#"{"type":"hello","platform":"discord","botId":""}"#;
    let nightdesk_protocol::FromGateway::Hello(hello) =
        nightdesk_protocol::FromGateway::decode(hello.as_bytes())
    else {
        unreachable!("it is a hello")
    };
    Frame::hello(&hello).unwrap()
}

/// Returns a message in a chat, by its name.
pub(super) fn entry(name: &str, chat: &str) -> Input {
    heard(&format!(
        r#"{{"type":"inbound","event":{{"text":"{name}","source":{{"platform":"discord","chat_id":"{chat}"}}}},"bufferId":"{name}"}}"#
    ))
}

/// Opens a line of a session.
pub(super) fn open(session: &mut AgentSession, now: Moment) {
    let dials = session.step(now, Input::Tick);
    assert!(dials.contains(&SessionEffect::Dial), "{dials:?}");
    session.step(now, Input::Dialled);
}

/// Returns a session on a live line.
pub(super) fn live() -> AgentSession {
    let mut session = AgentSession::new(at(secs(0)), vec![hello()], SEED);
    open(&mut session, at(secs(0)));
    let greeted = session.step(at(secs(0)), descriptor("discord"));
    assert!(greeted.contains(&SessionEffect::Show(Status::Live)), "{greeted:?}");
    session
}

/// Ends the line, and opens the next one after the backoff.
pub(super) fn on_the_next_line(session: &mut AgentSession, now: Moment) -> Moment {
    let rest = rest_of(&session.step(now, ended(1006)));
    let now = now + rest;
    open(session, now);
    session.step(now, descriptor("discord"));
    now
}

pub(super) fn ended(code: u16) -> Input {
    Input::Ended(SocketClose { code, reason: String::new() })
}

pub(super) fn rest_of(effects: &[SessionEffect]) -> Duration {
    let rest = effects.iter().find_map(|effect| {
        let SessionEffect::Show(Status::Resting { rest_for, .. }) = effect else { return None };
        Some(*rest_for)
    });
    rest.unwrap_or_else(|| panic!("no rest in {effects:?}"))
}

/// Returns the turns that begin.
pub(super) fn begun(effects: &[SessionEffect]) -> Vec<TurnStart> {
    let given = |effect: &SessionEffect| {
        let SessionEffect::Handle(given) = effect else { return None };
        Some(TurnStart::clone(given))
    };
    effects.iter().filter_map(given).collect()
}

/// Returns the written frames, as text.
pub(super) fn said(effects: &[SessionEffect]) -> Vec<String> {
    let frame = |effect: &SessionEffect| {
        let SessionEffect::Say(frame) = effect else { return None };
        Some(frame.as_str().trim_end().to_owned())
    };
    effects.iter().filter_map(frame).collect()
}

pub(super) fn ack(name: &str) -> String {
    format!(r#"{{"type":"inbound_ack","bufferId":"{name}"}}"#)
}

fn is_over(effects: &[SessionEffect], end: AgentEnd) -> bool {
    effects.contains(&SessionEffect::Show(Status::Over(end)))
}

#[test]
fn a_line_is_live_when_every_hello_is_answered() {
    let mut session = AgentSession::new(at(secs(0)), vec![hello(), hello()], SEED);
    session.step(at(secs(0)), Input::Tick);

    assert_eq!(said(&session.step(at(secs(0)), Input::Dialled)).len(), 2, "at once, unasked");
    assert_eq!(session.step(at(secs(0)), descriptor("discord")), []);
    let [SessionEffect::Greeted(descriptors), SessionEffect::Show(Status::Live)] =
        &session.step(at(secs(0)), descriptor("slack"))[..]
    else {
        panic!("not live")
    };
    let platforms: Vec<&str> = descriptors.iter().map(Descriptor::platform).collect();
    assert_eq!(platforms, ["discord", "slack"], "in the order of the hellos");
}

#[test]
fn a_line_whose_hellos_are_not_answered_is_given_up() {
    let mut session = AgentSession::new(at(secs(0)), vec![hello()], SEED);
    open(&mut session, at(secs(0)));
    session.step(at(GREET_WAIT - secs(1)), Input::Alive);

    assert_eq!(session.deadline(), Some(at(PING_EVERY)));
    assert_eq!(session.step(at(GREET_WAIT - secs(1)), Input::Tick), [SessionEffect::Ping]);
    let late = session.step(at(GREET_WAIT), Input::Tick);
    assert!(
        matches!(late[..], [SessionEffect::Close(Close::GoingAway), SessionEffect::Show(_)]),
        "{late:?}"
    );
}

#[test]
fn a_silent_line_is_pinged_and_judged_dead_no_sooner_than_it_must() {
    let mut session = live();

    assert_eq!(session.step(at(PING_EVERY), Input::Tick), [SessionEffect::Ping]);
    session.step(at(PING_EVERY), Input::Alive);
    let dead = PING_EVERY + DEAD_LINE;
    assert_eq!(session.step(at(dead - secs(1)), Input::Tick), [SessionEffect::Ping]);
    let effects = session.step(at(dead), Input::Tick);
    let silent = Status::Resting { why: Trouble::Silent, rest_for: rest_of(&effects) };
    assert_eq!(effects, [SessionEffect::Close(Close::GoingAway), SessionEffect::Show(silent)]);
}

#[test]
fn after_most_ends_the_next_dial_comes_within_the_ladder() {
    for code in [1000, 1001, 1005, 1006, 1008, 1009, 1011, 1013, 4409, 4999] {
        let mut session = live();
        let rest = rest_of(&session.step(at(secs(1)), ended(code)));
        assert!(rest <= secs(1), "{code}: {rest:?}");
        assert_eq!(session.deadline(), Some(at(secs(1)) + rest), "{code}");
    }
}

#[test]
fn lines_that_die_young_are_dialled_for_less_and_less_often() {
    let mut session = live();
    let mut now = at(secs(1));
    let rests: Vec<Duration> = (0..40)
        .map(|_| {
            let before = now;
            now = on_the_next_line(&mut session, now);
            now.since(before)
        })
        .collect();

    assert!(rests[30..].iter().any(|rest| *rest > LADDER_TOP / 2), "{rests:?}");
    assert!(rests.iter().all(|rest| *rest <= LADDER_TOP));
}

#[test]
fn a_refused_dial_is_shown_and_tried_again() {
    for status in [401, 403, 503] {
        let mut session = AgentSession::new(at(secs(0)), vec![hello()], SEED);
        session.step(at(secs(0)), Input::Tick);
        let why = Trouble::Refused { status };
        let effects = session.step(at(secs(0)), Input::DialFailed(why.clone()));

        let rest_for = rest_of(&effects);
        assert_eq!(effects, [SessionEffect::Show(Status::Resting { why, rest_for })]);
        let again = session.step(at(rest_for), Input::Tick);
        assert!(again.contains(&SessionEffect::Dial), "{status}");
    }
}

#[test]
fn a_restart_spreads_the_dials_wider_than_a_loss() {
    let rests = (0..200).map(|dials| {
        let mut session = AgentSession::new(at(secs(0)), vec![hello()], Seed { dials, ..SEED });
        open(&mut session, at(secs(0)));
        rest_of(&session.step(at(secs(0)), ended(Close::Restarting.code())))
    });
    let longest = rests.max().unwrap();

    assert!(longest <= RESTART_SPREAD && longest > RESTART_SPREAD / 2, "{longest:?}");
}

#[test]
fn a_revocation_is_believed_when_a_second_dial_proves_it() {
    let revoked = Close::Revoked.code();
    let mut session = live();

    let first = session.step(at(secs(1)), ended(revoked));
    assert_eq!(rest_of(&first), Duration::ZERO, "asked again at once");
    open(&mut session, at(secs(1)));
    let second = session.step(at(secs(1)), ended(revoked));
    assert!(is_over(&second, AgentEnd::Revoked), "{second:?}");
    assert!(session.is_over() && session.deadline().is_none());
}

#[test]
fn revocations_are_in_a_row_only_without_a_good_line_between() {
    let revoked = Close::Revoked.code();
    for (name, open_for, believed) in
        [("a short line", LIVED - secs(1), true), ("a good line", LIVED, false)]
    {
        let mut session = live();
        session.step(at(secs(1)), ended(revoked));
        open(&mut session, at(secs(1)));
        session.step(at(secs(1)), descriptor("discord"));
        session.step(at(secs(1) + open_for), ended(revoked));

        assert_eq!(session.is_over(), believed, "{name}");
    }
}

#[test]
fn an_expired_token_is_no_revocation() {
    let mut session = live();
    let mut now = at(secs(1));

    for _ in 0..5 {
        let code = Close::Revoked.code();
        let expired = SocketClose { code, reason: "expired".to_owned() };
        now = now + rest_of(&session.step(now, Input::Ended(expired)));
        open(&mut session, now);
    }
}

#[test]
fn an_idle_line_is_closed_when_the_desk_knows_and_every_turn_has_ended() {
    let mut session = live();
    let turns = begun(&session.step(at(secs(1)), entry("a", "c1")));

    let idle = session.step(at(secs(2)), Input::GoIdle);
    assert_eq!(said(&idle), [r#"{"type":"going_idle"}"#]);
    assert_eq!(session.step(at(secs(2)), Input::GoIdle), [], "said once");
    assert_eq!(session.step(at(secs(3)), heard(r#"{"type":"going_idle_ack"}"#)), []);
    let done = session.step(at(secs(4)), Input::Handled(turns[0].ticket, TurnResult::Well));
    assert_eq!(said(&done), [ack("a")], "the ack goes out before the line is closed");
    assert_eq!(done[1], SessionEffect::Close(Close::Done));
    assert!(is_over(&done, AgentEnd::Idle(Idle::Settled)));
}

#[test]
fn going_idle_has_a_limit() {
    let mut session = live();
    session.step(at(secs(1)), Input::GoIdle);
    let until = secs(1) + IDLE_WAIT;

    assert_eq!(session.deadline(), Some(at(until)));
    assert_eq!(session.step(at(until - secs(1)), Input::Tick), []);
    let late = session.step(at(until), Input::Tick);
    assert_eq!(late[0], SessionEffect::Close(Close::Done));
    assert!(is_over(&late, AgentEnd::Idle(Idle::CutShort)));
}

#[test]
fn without_a_line_the_desk_knows_already() {
    let mut session = live();
    session.step(at(secs(1)), ended(1006));

    assert!(is_over(&session.step(at(secs(1)), Input::GoIdle), AgentEnd::Idle(Idle::Settled)));
}

#[test]
fn what_comes_late_wakes_nothing() {
    let mut session = live();
    session.step(at(secs(1)), Input::Disconnect);

    assert!(session.is_over());
    for late in [Input::Dialled, Input::Tick, ended(1006), entry("a", "c1"), Input::GoIdle] {
        assert_eq!(session.step(at(secs(2)), late), []);
    }
    let mut resting = live();
    resting.step(at(secs(1)), ended(1006));
    assert_eq!(resting.step(at(secs(1)), ended(1006)), [], "a line ends once");
    assert!(!resting.is_over());
}
