//! Lines without a WebSocket.

use nightdesk_types::limits::{POLL_PRESENCE, TURN_MAX};

use super::*;

/// Returns a line of this transport to which one entry was delivered.
fn holding_an_entry(transport: Transport) -> LineSession {
    let mut session = opened(LineClient { transport, ..CLIENT }, taken(1));
    assert_eq!(said(&session.step(at(secs(0)), read(vec![entry(1)]))), 1, "no boot delays it");
    session
}

#[test]
fn a_present_agent_may_take_long_and_an_absent_one_is_called() {
    let mut session = holding_an_entry(Transport::Polling);
    session.step(at(secs(50)), LineInput::Pinged);

    let before = at(secs(50) + POLL_PRESENCE - secs(1));
    assert!(!session.step(before, LineInput::Tick).contains(&LineEffect::Suspect));
    let absent = at(secs(50) + POLL_PRESENCE);
    assert!(session.step(absent, LineInput::Tick).contains(&LineEffect::Suspect));
    assert_eq!(session.step(at(secs(300)), ack_of(1)), [range(1, 1)], "its ack still counts");
}

#[test]
fn an_absent_agent_without_entries_has_gone_idle() {
    let mut session = opened(LineClient { transport: Transport::Polling, ..CLIENT }, taken(0));
    session.step(at(secs(0)), read(Vec::new()));

    let end = end_of(&session.step(at(POLL_PRESENCE), LineInput::Tick));
    let idle = CloseRecord { code: 1000, tried: None, closed_by: ClosingSide::Idle };
    assert_eq!(end, Some(idle));
}

#[test]
fn a_line_with_an_entry_ends_after_the_longest_turn_and_counts_a_try() {
    let mut session = holding_an_entry(Transport::Polling);

    assert_eq!(end_of(&session.step(at(TURN_MAX - secs(1)), LineInput::Tick)), None);
    let end = end_of(&session.step(at(TURN_MAX), LineInput::Tick)).expect("it ends");
    assert_eq!((end.code, end.tried), (1011, Some(Seq::new(1))));
}

#[test]
fn a_post_is_not_suspected_before_its_deadline() {
    let mut session = holding_an_entry(Transport::Webhook);
    for after in [45, 90, 300, 899] {
        session.step(at(secs(after)), LineInput::Pinged);
        let effects = session.step(at(secs(after)), LineInput::Tick);
        assert!(!effects.contains(&LineEffect::Suspect), "after {after} s");
        assert_eq!(end_of(&effects), None, "after {after} s");
    }
}

#[test]
fn no_ack_is_implied_where_frames_may_wait_for_the_agent() {
    let send = r#"{"type":"outbound","requestId":"r","action":{"op":"send","chat_id":"chat","content":"x"}}"#;
    for transport in [Transport::Polling, Transport::Mcp, Transport::Webhook] {
        let mut session = opened(LineClient { transport, ..CLIENT }, taken(3));
        session.step(at(secs(0)), read(vec![passthrough(1), entry(2), passthrough(3)]));

        assert_eq!(session.step(at(secs(1)), ack_of(2)), [range(2, 2)], "{transport:?}");
        session.step(at(secs(2)), heard(send));
        assert_eq!(session.unacked_entries(), 2, "{transport:?}");
        assert_eq!(session.step(at(secs(3)), ack_of(1)), [range(1, 1)], "{transport:?}");
    }
}

#[test]
fn a_posted_line_that_the_desk_ends_has_no_client_to_wait_for() {
    let mut session = holding_an_entry(Transport::Webhook);
    session.step(at(secs(0)), LineInput::Drain);

    let end = end_of(&session.step(at(LEAVE_WAIT), LineInput::Tick)).expect("it ends");
    assert_eq!((end.code, end.closed_by), (1012, ClosingSide::Idle));
}

#[test]
fn a_try_counts_if_the_oldest_entry_was_posted_in_vain() {
    let id = |seq| EntryId { agent: AGENT, incarnation: HISTORY, seq: Seq::new(seq) };
    let cases = [(vec![id(1)], Some(1)), (vec![id(2)], None), (Vec::new(), None)];
    for (tried, counted) in cases {
        let mut session = opened(LineClient { transport: Transport::Webhook, ..CLIENT }, taken(2));
        session.step(at(secs(0)), read(vec![entry(1), entry(2)]));

        let effects = session.step(at(secs(1)), LineInput::Undelivered(tried.clone()));
        let end = end_of(&effects).expect("the line ends");
        let expected = CloseRecord {
            code: 1011,
            tried: counted.map(Seq::new),
            closed_by: ClosingSide::Undelivered,
        };
        assert_eq!(end, expected, "{tried:?}");
    }
}
