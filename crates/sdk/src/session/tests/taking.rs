//! Turns and acks.

use nightdesk_protocol::frame::InterruptResult;
use nightdesk_types::StopId;

use super::*;
use crate::limits::{TURNS_MAX, WAITING_ENTRIES_MAX};

fn handled(turn: &TurnStart, how: TurnResult) -> Input {
    Input::Handled(turn.ticket, how)
}

#[test]
fn an_entry_is_acked_when_its_turn_ended_well_and_not_before() {
    let mut session = live();

    let came = session.step(at(secs(1)), entry("a", "c1"));
    assert_eq!(said(&came), [""; 0]);
    let turns = begun(&came);
    assert_eq!(turns[0].session.as_str(), "agent:main:discord:dm:c1");
    let done = session.step(at(secs(2)), handled(&turns[0], TurnResult::Well));
    assert_eq!(said(&done), [ack("a")]);
}

#[test]
fn a_turn_that_failed_leaves_its_entry_for_the_next_line() {
    let mut session = live();
    let turns = begun(&session.step(at(secs(1)), entry("a", "c1")));

    assert_eq!(session.step(at(secs(2)), handled(&turns[0], TurnResult::Badly)), []);
    let now = on_the_next_line(&mut session, at(secs(3)));
    let again = begun(&session.step(now, entry("a", "c1")));
    assert_eq!(again.len(), 1, "a second try");
    assert_eq!(said(&session.step(now, handled(&again[0], TurnResult::Well))), [ack("a")]);
}

#[test]
fn an_entry_that_was_handled_is_acked_again_and_has_no_second_turn() {
    let mut session = live();
    let turns = begun(&session.step(at(secs(1)), entry("a", "c1")));
    session.step(at(secs(2)), handled(&turns[0], TurnResult::Well));
    let now = on_the_next_line(&mut session, at(secs(3)));

    let again = session.step(now, entry("a", "c1"));
    assert_eq!((begun(&again).len(), said(&again)), (0, vec![ack("a")]));
}

#[test]
fn a_turn_outlives_its_line_and_is_acked_on_the_one_that_gave_the_entry_again() {
    let mut session = live();
    let turns = begun(&session.step(at(secs(1)), entry("a", "c1")));
    let now = on_the_next_line(&mut session, at(secs(3)));

    assert_eq!(session.step(now, entry("a", "c1")), [], "its turn is under way");
    let done = session.step(now, handled(&turns[0], TurnResult::Well));
    assert_eq!(said(&done), [ack("a")]);
}

#[test]
fn an_ack_is_not_said_on_a_line_that_did_not_give_the_entry() {
    let mut session = live();
    let turns = begun(&session.step(at(secs(1)), entry("a", "c1")));
    let now = on_the_next_line(&mut session, at(secs(3)));

    assert_eq!(session.step(now, handled(&turns[0], TurnResult::Well)), []);
    assert_eq!(said(&session.step(now, entry("a", "c1"))), [ack("a")]);
}

#[test]
fn a_turn_may_take_its_entry_early() {
    let mut session = live();
    let turns = begun(&session.step(at(secs(1)), entry("a", "c1")));

    assert_eq!(said(&session.step(at(secs(2)), Input::Taken(turns[0].ticket))), [ack("a")]);
    assert_eq!(session.step(at(secs(3)), handled(&turns[0], TurnResult::Badly)), []);
    let now = on_the_next_line(&mut session, at(secs(4)));
    assert_eq!(begun(&session.step(now, entry("a", "c1"))), [], "it was the agent's to lose");
}

#[test]
fn a_session_has_one_turn_at_a_time_and_others_go_on() {
    let mut session = live();
    let first = begun(&session.step(at(secs(1)), entry("a", "c1")));

    assert_eq!(begun(&session.step(at(secs(1)), entry("b", "c1"))), []);
    assert_eq!(begun(&session.step(at(secs(1)), entry("c", "c2"))).len(), 1, "another chat");
    assert_eq!(begun(&session.step(at(secs(1)), entry("d", "c1"))), []);
    let done = session.step(at(secs(2)), handled(&first[0], TurnResult::Well));
    let Content::Message(next) = &begun(&done)[0].content else { panic!("not a message") };
    assert_eq!((begun(&done).len(), next.message.text.as_str()), (1, "b"), "in order");
}

#[test]
fn turns_at_once_have_a_limit() {
    let mut session = live();
    let come = |n: usize, session: &mut AgentSession| {
        begun(&session.step(at(secs(1)), entry(&format!("e{n}"), &format!("c{n}"))))
    };

    let turns: Vec<TurnStart> = (0..TURNS_MAX).flat_map(|n| come(n, &mut session)).collect();
    assert_eq!(turns.len(), TURNS_MAX, "at the limit");
    assert_eq!(come(TURNS_MAX, &mut session), [], "past the limit");
    let done = session.step(at(secs(2)), handled(&turns[3], TurnResult::Badly));
    assert_eq!(begun(&done).len(), 1);
}

#[test]
fn a_desk_that_does_not_keep_to_its_window_loses_the_line() {
    let mut session = live();
    let mut come = |n: usize| session.step(at(secs(1)), entry(&format!("e{n}"), "c1"));

    let within: Vec<SessionEffect> = (0..=WAITING_ENTRIES_MAX).flat_map(&mut come).collect();
    assert_eq!((begun(&within).len(), within.len()), (1, 1), "one turn, the others wait");
    let flooded = come(WAITING_ENTRIES_MAX + 1);
    assert_eq!(flooded[0], SessionEffect::Close(Close::GoingAway), "{flooded:?}");
}

#[test]
fn what_waits_when_a_line_ends_comes_again_or_never() {
    let mut session = live();
    let turns = begun(&session.step(at(secs(1)), entry("a", "c1")));
    session.step(at(secs(1)), entry("b", "c1"));
    let unnamed =
        r#"{"type":"inbound","event":{"text":"","source":{"platform":"discord","chat_id":"c1"}}}"#;
    session.step(at(secs(1)), heard(unnamed));
    session.step(at(secs(2)), ended(1006));

    let done = session.step(at(secs(2)), handled(&turns[0], TurnResult::Well));
    assert_eq!(begun(&done).len(), 1, "only what has no name would never come again: {done:?}");
}

#[test]
fn a_forwarded_request_has_a_turn_and_is_acked_by_its_name() {
    let mut session = live();
    let forward = r#"{"type":"passthrough_forward","forward":{"platform":"discord","botId":"b1","method":"POST","path":"/x","headers":[],"bodyB64":"aGk="},"bufferId":"f"}"#;

    let turns = begun(&session.step(at(secs(1)), heard(forward)));
    let Content::Forward(forward) = &turns[0].content else { panic!("not a request") };
    assert_eq!(forward.request.body, b"hi");
    assert_eq!(turns[0].session.as_str(), "forward:discord:b1");
    let done = session.step(at(secs(2)), handled(&turns[0], TurnResult::Well));
    assert_eq!(said(&done), [ack("f")]);
}

#[test]
fn an_interrupt_stops_the_turn_of_exactly_its_session() {
    let mut session = live();
    let one = begun(&session.step(at(secs(1)), entry("a", "c1")));
    session.step(at(secs(1)), entry("b", "c2"));
    let stop = |key: &str| {
        heard(&format!(r#"{{"type":"interrupt_inbound","session_key":"{key}","chat_id":"c1"}}"#))
    };

    let stopped = session.step(at(secs(2)), stop("agent:main:discord:dm:c1"));
    assert_eq!(stopped, [SessionEffect::Stop(one[0].ticket)]);
    assert_eq!(session.step(at(secs(2)), stop("agent:main:discord:dm:c")), [], "nobody's");
}

#[test]
fn a_stop_with_an_id_is_answered_whether_a_turn_runs_or_not() {
    let mut session = live();
    let one = begun(&session.step(at(secs(1)), entry("a", "c1")));
    let stop = |stop: &str, chat: &str| {
        let key = format!("agent:main:discord:dm:{chat}");
        heard(&format!(
            r#"{{"type":"interrupt_inbound","session_key":"{key}","chat_id":"{chat}","stop_id":"{stop}"}}"#
        ))
    };
    let answer = |stop: &str, stopped| {
        let answer = InterruptResult { stop_id: StopId::new(stop).unwrap(), stopped };
        SessionEffect::Say(Frame::interrupt_result(&answer).unwrap())
    };

    let stopped = session.step(at(secs(2)), stop("s1", "c1"));
    assert_eq!(stopped, [SessionEffect::Stop(one[0].ticket), answer("s1", true)]);
    assert_eq!(session.step(at(secs(2)), stop("s2", "c2")), [answer("s2", false)]);
}
