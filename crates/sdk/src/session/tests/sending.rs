//! Sends and their answers.

use nightdesk_types::limits::{FRAME_IN_BYTES_MAX, SEND_ANSWER_WAIT, SENDS_IN_FLIGHT_MAX};
use nightdesk_types::send::Op;

use super::*;
use crate::limits::{LINE_WAIT, SENDS_WAITING_BYTES_MAX, SENDS_WAITING_MAX};

pub(super) fn asked(ask: u64, text: &str) -> Input {
    asked_as(ask, text, None)
}

/// A send under an id of the caller.
fn asked_as(ask: u64, text: &str, request_id: Option<&str>) -> Input {
    let op = Op::Send { content: text.to_owned(), reply_to: None };
    let send = nightdesk_types::Send {
        chat_id: "c1".to_owned(),
        op,
        metadata: serde_json::Map::default(),
    };
    let tagged = RoutedAction {
        request_id: request_id.and_then(RequestId::new),
        action: Action::Send(send),
        platform: None,
        bot_handle: None,
    };
    Input::Asked(CallId(ask), DeskRequest::Outbound(Box::new(tagged)))
}

fn answer(ask: u64, why: RequestFailure) -> SessionEffect {
    SessionEffect::Answer(CallId(ask), Err(why))
}

/// Returns the ids of the written requests.
pub(super) fn requests(effects: &[SessionEffect]) -> Vec<String> {
    let request = |frame: String| {
        let (_, rest) = frame.split_once(r#""requestId":""#)?;
        Some(rest.split('"').next()?.to_owned())
    };
    said(effects).into_iter().filter_map(request).collect()
}

pub(super) fn result(request: &str) -> Input {
    heard(&format!(
        r#"{{"type":"outbound_result","requestId":"{request}","result":{{"success":true,"message_id":"m1"}}}}"#
    ))
}

#[test]
fn a_send_is_said_and_its_answer_goes_to_who_asked() {
    let mut session = live();
    let one = requests(&session.step(at(secs(1)), asked(1, "one")));
    let two = requests(&session.step(at(secs(1)), asked(2, "two")));

    let outcome = Outcome::delivered(Some("m1".to_owned()));
    let answered = session.step(at(secs(2)), result(&two[0]));
    assert_eq!(answered, [SessionEffect::Answer(CallId(2), Ok(Some(Box::new(outcome))))]);
    assert_eq!(session.step(at(secs(2)), result(&two[0])), [], "answered once");
    assert_ne!(one, two);
}

#[test]
fn two_processes_never_use_one_name_for_two_requests() {
    let name = |requests: [u8; 16]| {
        let mut session = AgentSession::new(at(secs(0)), vec![hello()], Seed { requests, ..SEED });
        open(&mut session, at(secs(0)));
        session.step(at(secs(0)), descriptor("discord"));
        self::requests(&session.step(at(secs(0)), asked(1, "")))
    };

    assert_ne!(name([1; 16]), name([2; 16]));
}

#[test]
fn a_send_under_an_own_id_is_repeated_under_it_and_never_twice_at_once() {
    let mut session = live();
    let own = |ask| asked_as(ask, "one", Some("reply-e1"));
    let first = session.step(at(secs(1)), own(1));
    assert_eq!(requests(&first), ["reply-e1"]);
    assert_eq!(session.step(at(secs(1)), own(2)), [answer(2, RequestFailure::Busy)]);

    let now = on_the_next_line(&mut session, at(secs(2)));
    assert_eq!(requests(&session.step(now, own(3))), ["reply-e1"]);
    let outcome = Outcome::delivered(Some("m1".to_owned()));
    let answered = session.step(now, result("reply-e1"));
    assert_eq!(answered, [SessionEffect::Answer(CallId(3), Ok(Some(Box::new(outcome))))]);
}

#[test]
fn what_was_said_when_the_line_was_lost_is_unknown_and_never_said_again() {
    let mut session = live();
    session.step(at(secs(1)), asked(1, "one"));

    let lost = session.step(at(secs(2)), ended(1006));
    assert_eq!(lost[0], answer(1, RequestFailure::Unknown));
    let now = at(secs(2)) + rest_of(&lost);
    session.step(now, Input::Tick);
    let mut next = session.step(now, Input::Dialled);
    next.extend(session.step(now, descriptor("discord")));
    assert_eq!(requests(&next), [""; 0]);
}

#[test]
fn a_send_without_an_answer_is_unknown_after_its_time() {
    let mut session = live();
    session.step(at(secs(1)), asked(1, "one"));
    let late = secs(1) + SEND_ANSWER_WAIT;

    assert_eq!(session.step(at(late - secs(1)), Input::Alive), []);
    assert_eq!(session.step(at(late), Input::Alive), [answer(1, RequestFailure::Unknown)]);
}

#[test]
fn a_send_without_a_line_waits_for_one_and_then_says_so() {
    let mut session = AgentSession::new(at(secs(0)), vec![hello()], SEED);
    assert_eq!(said(&session.step(at(secs(0)), asked(1, "one"))), [""; 0]);
    session.step(at(LINE_WAIT - secs(1)), asked(2, "two"));
    session.step(at(LINE_WAIT - secs(1)), Input::Tick);

    assert_eq!(session.deadline(), Some(at(LINE_WAIT)));
    assert_eq!(session.step(at(LINE_WAIT), Input::Tick), [answer(1, RequestFailure::NoLine)]);
    assert_eq!(requests(&session.step(at(LINE_WAIT), Input::Dialled)), [""; 0]);
    assert_eq!(requests(&session.step(at(LINE_WAIT), descriptor("discord"))).len(), 1);
}

#[test]
fn sends_in_flight_and_waiting_have_limits() {
    let mut session = live();
    let all = SENDS_IN_FLIGHT_MAX + SENDS_WAITING_MAX;
    let mut ask = |n: usize| session.step(at(secs(1)), asked(n as u64, ""));

    let effects: Vec<SessionEffect> = (0..all).flat_map(&mut ask).collect();
    let names = requests(&effects);
    assert_eq!((names.len(), effects.len()), (SENDS_IN_FLIGHT_MAX, SENDS_IN_FLIGHT_MAX));
    assert_eq!(ask(all), [answer(all as u64, RequestFailure::Busy)], "past the limit");
    let next = session.step(at(secs(2)), result(&names[5]));
    assert_eq!(requests(&next).len(), 1, "an answer makes room");
    let late = session.step(at(secs(1) + LINE_WAIT), Input::Alive);
    let busy = late
        .iter()
        .filter(|effect| matches!(effect, SessionEffect::Answer(_, Err(RequestFailure::Busy))));
    assert_eq!(busy.count(), SENDS_WAITING_MAX - 1);
}

#[test]
fn what_waits_has_a_limit_in_bytes() {
    let mut session = AgentSession::new(at(secs(0)), vec![hello()], SEED);
    let text = "x".repeat(FRAME_IN_BYTES_MAX - 1_000);
    let fit = (SENDS_WAITING_BYTES_MAX / text.len()) as u64;

    for n in 0..fit {
        assert_eq!(session.step(at(secs(0)), asked(n, &text)), []);
    }
    assert_eq!(session.step(at(secs(0)), asked(fit, &text)), [answer(fit, RequestFailure::Busy)]);
}

#[test]
fn a_send_that_fits_no_frame_is_not_sent() {
    let mut session = live();
    let text = "x".repeat(FRAME_IN_BYTES_MAX);

    let effects = session.step(at(secs(1)), asked(1, &text));
    assert!(
        matches!(effects[..], [SessionEffect::Answer(_, Err(RequestFailure::TooLong(_)))]),
        "{effects:?}"
    );
}

#[test]
fn an_interrupt_is_answered_when_it_was_said() {
    let mut session = live();
    let session_key = SessionKey::new("agent:main:discord:dm:c1").unwrap();
    let wish = DeskRequest::Interrupt(Interrupt { session_key, reason: None });

    let effects = session.step(at(secs(1)), Input::Asked(CallId(1), wish));
    let want = r#"{"type":"interrupt","session_key":"agent:main:discord:dm:c1","reason":null}"#;
    assert_eq!(said(&effects), [want]);
    assert_eq!(effects[1], SessionEffect::Answer(CallId(1), Ok(None)));
}

#[test]
fn everybody_is_answered_when_it_is_over() {
    let mut session = live();
    session.step(at(secs(1)), asked(1, "said"));
    session.step(at(secs(1)), ended(1006));
    session.step(at(secs(1)), asked(2, "waits"));

    let over = session.step(at(secs(1)), Input::Disconnect);
    assert!(over.contains(&answer(2, RequestFailure::Over)), "{over:?}");
    assert_eq!(session.step(at(secs(1)), asked(3, "late")), [answer(3, RequestFailure::Over)]);
}
