#![expect(clippy::unchecked_time_subtraction, reason = "a test that goes below zero should stop")]

use std::sync::Arc;
use std::time::Duration;

use nightdesk_inbox::{AckRange, Entry};
use nightdesk_protocol::event::EntryJson;
use nightdesk_types::limits::{
    BOOT_PING_GAP, BOOT_PINGS, DEAD_LINE, HELLO_WAIT, HOLD_BACK, LEAVE_WAIT, PING_EVERY,
    SAME_PROCESS, SENDS_IN_FLIGHT_MAX, SUSPECT_ACK, SUSPECT_PONG, WINDOW_BYTES_MAX,
    WINDOW_ENTRIES_MAX,
};
use nightdesk_types::{BotId, ClientRules, EntryId, Generation, Incarnation};
use uuid::Uuid;

use super::*;
use crate::store::ClosingSide;

mod clients;
mod hellos;
mod leaving;
mod silence;
mod stops;
mod transports;

pub(super) const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());

const HISTORY: Incarnation = Incarnation::new(5);

pub(super) fn at(after: Duration) -> SessionTime {
    SessionTime { moment: Moment::after_start(after), wall: Timestamp::UNIX_EPOCH }
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) fn heard(line: &str) -> LineInput {
    LineInput::Heard(FromGateway::decode(line.as_bytes()))
}

pub(super) fn ack_of(seq: i64) -> LineInput {
    let id = EntryId { agent: AGENT, incarnation: HISTORY, seq: Seq::new(seq) };
    heard(&format!(r#"{{"type":"inbound_ack","bufferId":"{id}"}}"#))
}

fn entry_in(seq: i64, chat_id: &str, json: &str) -> Entry {
    Entry {
        seq: Seq::new(seq),
        incarnation: HISTORY,
        at: Timestamp::UNIX_EPOCH,
        bot: BotId::from_uuid(Uuid::nil()),
        chat_id: chat_id.to_owned(),
        json: EntryJson::from_stored(json.as_bytes().to_vec())
            .map(Arc::new)
            .map_err(|_| ParkReason::Unsendable),
    }
}

pub(super) fn entry(seq: i64) -> Entry {
    entry_in(seq, "chat", r#"{"type":"inbound","event":{}}"#)
}

pub(super) fn passthrough(seq: i64) -> Entry {
    entry_in(seq, "chat", r#"{"type":"passthrough_forward","forward":{}}"#)
}

pub(super) fn unsendable(seq: i64) -> Entry {
    entry_in(seq, "chat", "not an entry")
}

fn range(from: i64, to: i64) -> LineEffect {
    let epoch = Timestamp::UNIX_EPOCH;
    LineEffect::Ack(AckRange {
        from: Seq::new(from),
        to: Seq::new(to),
        at: epoch,
        handed_at: epoch,
    })
}

pub(super) fn taken(head: i64) -> LineStart {
    LineStart {
        incarnation: HISTORY,
        rules: ClientRules::default(),
        generation: Generation::new(1),
        acked: Seq::new(0),
        since: Timestamp::UNIX_EPOCH,
        head: Seq::new(head),
        restarted_ago: None,
        parked: None,
    }
}

pub(super) fn greeted() -> LineInput {
    let length = std::num::NonZeroU32::new(2_000).unwrap();
    let descriptor = Descriptor::new("discord", "Discord", length);
    LineInput::Greeted(Box::new(HelloLookup { descriptor }))
}

const HELLO: &str = r#"{"type":"hello","platform":"discord","botId":"b"}"#;
const CLIENT: LineClient = LineClient { agent: AGENT, acks: true, transport: Transport::WebSocket };

pub(super) fn opened(client: LineClient, taken: LineStart) -> LineSession {
    opened_by(HELLO, client, taken)
}

fn opened_by(hello: &str, client: LineClient, taken: LineStart) -> LineSession {
    let mut session = LineSession::new(at(secs(0)), client);
    for input in [heard(hello), greeted(), LineInput::Taken(taken)] {
        session.step(at(secs(0)), input);
    }
    session
}

/// Returns a line of a client that does not boot, with a running read.
fn live() -> LineSession {
    opened(CLIENT, LineStart { restarted_ago: Some(Duration::ZERO), ..taken(100) })
}

fn read(entries: Vec<Entry>) -> LineInput {
    LineInput::Read(ReadResponse::Entries(entries))
}

fn said(effects: &[LineEffect]) -> usize {
    effects.iter().filter(|effect| matches!(effect, LineEffect::Say(_))).count()
}

fn end_of(effects: &[LineEffect]) -> Option<CloseRecord> {
    effects
        .iter()
        .find_map(|effect| if let LineEffect::End(end) = effect { Some(*end) } else { None })
}

#[test]
fn a_line_without_a_hello_is_closed_in_time() {
    let mut session = LineSession::new(at(secs(0)), CLIENT);

    assert_eq!(session.deadline(), Some(at(HELLO_WAIT).moment));
    assert!(session.step(at(HELLO_WAIT - secs(1)), LineInput::Tick).is_empty());
    session.step(at(HELLO_WAIT), LineInput::Tick);
    assert!(session.is_closed());
}

#[test]
fn nothing_is_handed_over_while_a_fresh_client_boots() {
    let mut session = opened(CLIENT, taken(1));

    for round in 1..BOOT_PINGS {
        session.step(at(BOOT_PING_GAP * (round - 1)), LineInput::Pong);
        let next = BOOT_PING_GAP * round;
        assert_eq!(session.deadline(), Some(at(next).moment));
        assert_eq!(session.step(at(next), LineInput::Tick), [LineEffect::Ping]);
    }
    let rung = session.step(at(HOLD_BACK), LineInput::Rung(Some(Seq::new(2))));
    assert_eq!(rung, [], "a ping is unanswered");
    session.step(at(HOLD_BACK), LineInput::Pong);
    let booted = HOLD_BACK + BOOT_PING_GAP;
    assert_eq!(session.deadline(), Some(at(booted).moment));
    let reads = session.step(at(booted), LineInput::Tick);
    assert!(matches!(reads[..], [LineEffect::Read { .. }]), "{reads:?}");
}

#[test]
fn a_client_that_does_not_boot_is_not_held_back() {
    let just =
        LineStart { restarted_ago: Some(SAME_PROCESS - Duration::from_millis(1)), ..taken(1) };
    let later = LineStart { restarted_ago: Some(SAME_PROCESS), ..taken(1) };
    let manifest = r#"{"type":"hello","platform":"discord","botId":"b","command_manifest":[]}"#;
    let sdk = r#"{"type":"hello","platform":"d","botId":"b","client":{"name":"nightdesk-sdk"}}"#;
    let cases = [
        ("the desk restarted just now", HELLO, just, true),
        ("the desk restarted a while ago", HELLO, later, false),
        ("a newer stock client", manifest, taken(1), false),
        ("our SDK", sdk, taken(1), true),
        ("the stock client", HELLO, taken(1), false),
    ];
    for (name, hello, taken, at_once) in cases {
        let mut session = LineSession::new(at(secs(0)), CLIENT);
        session.step(at(secs(0)), heard(hello));
        session.step(at(secs(0)), greeted());
        let effects = session.step(at(secs(0)), LineInput::Taken(taken));
        let reads = effects.iter().filter(|effect| matches!(effect, LineEffect::Read { .. }));
        assert_eq!(reads.count(), usize::from(at_once), "{name}: {effects:?}");
    }
}

#[test]
fn the_window_is_filled_and_not_exceeded() {
    let mut session = live();
    let full = i64::try_from(WINDOW_ENTRIES_MAX).unwrap();

    let effects = session.step(at(HOLD_BACK), read((1..=full).map(entry).collect()));
    assert_eq!(effects.len(), WINDOW_ENTRIES_MAX, "all said, and no further read");
    assert!(session.step(at(HOLD_BACK), LineInput::Rung(Some(Seq::new(200)))).is_empty());
    let effects = session.step(at(HOLD_BACK), ack_of(1));
    assert_eq!(effects[0], range(1, 1));
    assert!(matches!(effects[1], LineEffect::Read { entries_max: 1, .. }), "{effects:?}");
}

#[test]
fn a_window_full_of_bytes_is_full() {
    let mut session = live();
    let big = format!(r#"{{"type":"inbound","event":{{"x":"{}"}}}}"#, "x".repeat(500_000));
    let entries = (1..=3).map(|seq| entry_in(seq, "chat", &big)).collect();

    let effects = session.step(at(HOLD_BACK), read(entries));
    assert_eq!(said(&effects), 3);
    assert_eq!(effects.len(), 3, "over {WINDOW_BYTES_MAX} bytes nothing more is read");
}

#[test]
fn acks_that_are_not_of_this_line_change_nothing() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1), entry(2)]));
    let agent = AgentId::from_uuid(Uuid::max());
    let foreign = EntryId { agent, incarnation: HISTORY, seq: Seq::new(1) };
    let of_another = format!(r#"{{"type":"inbound_ack","bufferId":"{foreign}"}}"#);

    assert!(session.step(at(HOLD_BACK), heard(&of_another)).is_empty(), "another agent's");
    assert!(session.step(at(HOLD_BACK), ack_of(3)).is_empty(), "not handed over yet");
    assert_eq!(session.step(at(HOLD_BACK), ack_of(1)), [range(1, 1)]);
    assert!(session.step(at(HOLD_BACK), ack_of(1)).is_empty(), "a second time");
    assert_eq!(session.unacked_entries(), 1);
}

#[test]
fn an_ack_settles_the_numbers_before_it_that_are_no_entries() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(3), entry(7)]));

    assert_eq!(session.step(at(HOLD_BACK), ack_of(3)), [range(1, 3)]);
    assert_eq!(session.step(at(HOLD_BACK), ack_of(7))[0], range(4, 7));
}

#[test]
fn what_cannot_be_sent_is_parked_and_the_next_goes_out() {
    let mut session = live();

    let effects = session.step(at(HOLD_BACK), read(vec![unsendable(1), entry(2)]));
    assert_eq!(effects[0], LineEffect::Park(Seq::new(1), ParkReason::Unsendable));
    assert_eq!(said(&effects), 1);
    assert_eq!(session.unacked_entries(), 1);
}

#[test]
fn an_entry_that_does_not_open_is_parked_and_the_next_goes_out() {
    let mut session = live();
    let unreadable = Entry { json: Err(ParkReason::Unreadable), ..entry(1) };

    let effects = session.step(at(HOLD_BACK), read(vec![unreadable, entry(2)]));
    assert_eq!(effects[0], LineEffect::Park(Seq::new(1), ParkReason::Unreadable));
    assert_eq!(said(&effects), 1);
}

#[test]
fn a_passthrough_is_done_when_a_later_frame_is_acked() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![passthrough(1), entry(2), passthrough(3)]));

    let effects = session.step(at(HOLD_BACK), ack_of(2));
    assert_eq!(effects[..2], [range(1, 1), range(2, 2)]);
    assert_eq!(session.unacked_entries(), 1, "the passthrough after it is still out");
}

#[test]
fn a_passthrough_is_done_when_a_send_to_its_chat_follows() {
    let send = |chat: &str| {
        heard(&format!(
            r#"{{"type":"outbound","requestId":"r","action":{{"op":"send","chat_id":"{chat}","content":"x"}}}}"#
        ))
    };
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![passthrough(1)]));

    assert_eq!(session.step(at(HOLD_BACK), send("elsewhere")).len(), 1, "only the send");
    assert_eq!(session.step(at(HOLD_BACK), send("chat"))[0], range(1, 1));
}

#[test]
fn a_passthrough_is_done_when_the_line_answers_pings_long_after() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![passthrough(1)]));
    let later = HOLD_BACK + SUSPECT_ACK;

    assert!(session.step(at(later - secs(1)), LineInput::Pong).is_empty());
    assert_eq!(session.step(at(later), LineInput::Pong)[0], range(1, 1));
}

#[test]
fn nothing_is_implied_for_a_client_that_acks_passthroughs() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![passthrough(1), passthrough(2), entry(3)]));

    assert_eq!(session.step(at(HOLD_BACK), ack_of(1)), [range(1, 1)]);
    assert_eq!(session.step(at(HOLD_BACK), ack_of(3))[0], range(3, 3));
    assert_eq!(session.unacked_entries(), 1, "it will ack the second one itself");
}

#[test]
fn a_client_that_never_acks_is_served_as_marked() {
    let restarted = LineStart { restarted_ago: Some(Duration::ZERO), ..taken(100) };
    let mut session = opened(LineClient { acks: false, ..CLIENT }, restarted);

    let effects = session.step(at(HOLD_BACK), read(vec![entry(1)]));
    assert_eq!(effects[1], range(1, 1));
    assert_eq!(session.unacked_entries(), 0);
}

#[test]
fn a_try_counts_only_if_the_line_had_its_time_or_the_client_choked() {
    let replaced = || LineInput::Replaced;
    let lost = || LineInput::Ended { code: 1006 };
    let choked = || LineInput::Ended { code: 1009 };
    let suspect = HOLD_BACK + SUSPECT_ACK;
    let cases: [(&str, Duration, LineInput, bool); 5] = [
        ("lost at once", HOLD_BACK, lost(), false),
        ("lost just before it was suspect", suspect - secs(1), lost(), false),
        ("lost when it was suspect", suspect, lost(), true),
        ("choked on a frame", HOLD_BACK, choked(), true),
        ("dialled again while open", HOLD_BACK, replaced(), true),
    ];
    for (name, when, input, counts) in cases {
        let mut session = live();
        session.step(at(HOLD_BACK), read(vec![entry(1), entry(2)]));
        let end = end_of(&session.step(at(when), input)).expect(name);
        assert_eq!(end.tried, counts.then_some(Seq::new(1)), "{name}");
    }
}

#[test]
fn a_line_with_nothing_unacked_was_not_in_vain() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1)]));
    session.step(at(HOLD_BACK), ack_of(1));

    let end = end_of(&session.step(at(HOLD_BACK), LineInput::Replaced)).unwrap();
    assert_eq!(end, CloseRecord { code: 4409, tried: None, closed_by: ClosingSide::Desk });
}

#[test]
fn a_late_ack_is_waited_for_and_a_dead_line_is_closed() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![entry(1)]));
    let dead = HOLD_BACK + DEAD_LINE;

    for second in (0..dead.as_secs()).step_by(5) {
        session.step(at(secs(second).max(HOLD_BACK)), LineInput::Pong);
    }
    session.step(at(dead - Duration::from_millis(1)), LineInput::Tick);
    assert!(!session.is_closed(), "it answers pings, and its ack is only late");
    let end = end_of(&session.step(at(dead), LineInput::Tick)).unwrap();
    assert_eq!(end.tried, Some(Seq::new(1)));
}

#[test]
fn pings_at_its_own_pace() {
    let mut session = live();
    session.step(at(HOLD_BACK), read(vec![]));

    assert_eq!(session.deadline(), Some(at(PING_EVERY).moment));
    assert_eq!(session.step(at(PING_EVERY), LineInput::Tick), [LineEffect::Ping]);
    assert_eq!(session.deadline(), Some(at(PING_EVERY + PING_EVERY).moment));
}

#[test]
fn sends_under_way_have_a_limit() {
    let send = |number: usize| {
        heard(&format!(
            r#"{{"type":"outbound","requestId":"r{number}","action":{{"op":"typing","chat_id":"c"}}}}"#
        ))
    };
    let mut session = live();
    let taken: Vec<bool> = (0..=SENDS_IN_FLIGHT_MAX)
        .map(|number| matches!(session.step(at(HOLD_BACK), send(number))[0], LineEffect::Send(_)))
        .collect();
    assert!(taken[..SENDS_IN_FLIGHT_MAX].iter().all(|taken| *taken), "up to the limit");
    assert!(!taken[SENDS_IN_FLIGHT_MAX], "past the limit it is answered at once");

    let answered =
        LineInput::Sent(RequestId::new("r0").unwrap(), Box::new(Outcome::delivered(None)));
    assert_eq!(said(&session.step(at(HOLD_BACK), answered)), 1);
    assert!(
        matches!(session.step(at(HOLD_BACK), send(99))[0], LineEffect::Send(_)),
        "there is room again"
    );
}

#[test]
fn a_line_that_goes_idle_is_told_so_and_gets_nothing_more() {
    let mut session = live();

    let effects = session.step(at(HOLD_BACK), heard(r#"{"type":"going_idle"}"#));
    assert_eq!(effects, [LineEffect::Say(Frame::going_idle_ack())]);
    assert!(session.step(at(HOLD_BACK), read(vec![entry(1)])).is_empty(), "not said any more");
    assert!(session.step(at(HOLD_BACK), LineInput::Rung(Some(Seq::new(101)))).is_empty());
    let awake = session.step(at(HOLD_BACK + IDLE_REST), LineInput::Tick);
    assert!(matches!(awake[..], [LineEffect::Read { .. }]), "it stayed after all: {awake:?}");
}

#[test]
fn a_read_that_failed_is_tried_again() {
    let mut session = live();

    assert!(session.step(at(HOLD_BACK), LineInput::ReadFailed).is_empty());
    assert_eq!(session.deadline(), Some(at(HOLD_BACK + READ_AGAIN).moment));
    let again = session.step(at(HOLD_BACK + READ_AGAIN), LineInput::Tick);
    assert!(matches!(again[..], [LineEffect::Read { .. }]), "{again:?}");
}

#[test]
fn an_empty_answer_is_not_asked_for_again() {
    let mut session = live();

    assert!(session.step(at(HOLD_BACK), read(vec![])).is_empty());
    assert!(session.step(at(HOLD_BACK), LineInput::Rung(Some(Seq::new(100)))).is_empty());
    let new = session.step(at(HOLD_BACK), LineInput::Rung(Some(Seq::new(101))));
    assert!(matches!(new[..], [LineEffect::Read { .. }]), "{new:?}");
}

#[test]
fn every_end_has_its_close_code() {
    let cases = [
        (LineInput::Replaced, 4409),
        (LineInput::Revoked, 4401),
        // The line has no entries, so it closes at once.
        (LineInput::Drain, 1012),
        (LineInput::StoreLost, 1013),
        (LineInput::Misbehaved(Close::TooBig), 1009),
        (LineInput::Read(ReadResponse::LineReplaced), 4409),
        (LineInput::Read(ReadResponse::HistoryChanged), 1012),
        (LineInput::HistoryChanged, 1012),
    ];
    for (input, code) in cases {
        let name = format!("{input:?}");
        let mut session = live();
        let effects = session.step(at(HOLD_BACK), input);
        assert!(matches!(effects[0], LineEffect::Close(close) if close.code() == code), "{name}");
        assert_eq!(
            end_of(&effects),
            Some(CloseRecord { code, tried: None, closed_by: ClosingSide::Desk }),
            "{name}"
        );
        assert!(session.is_closed());
    }
}

#[test]
fn a_store_that_is_down_is_never_a_revocation() {
    let mut session = LineSession::new(at(secs(0)), CLIENT);
    session.step(at(secs(0)), heard(HELLO));

    let effects = session.step(at(secs(0)), LineInput::StoreLost);
    assert_eq!(effects[0], LineEffect::Close(Close::TryLater));
}

#[test]
fn a_send_before_any_hello_is_answered() {
    let mut session = LineSession::new(at(secs(0)), CLIENT);
    let send =
        r#"{"type":"outbound","requestId":"r","action":{"op":"send","chat_id":"c","content":"x"}}"#;

    assert_eq!(said(&session.step(at(secs(0)), heard(send))), 1);
}
