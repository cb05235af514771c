use std::time::Duration;

use nightdesk_protocol::delivery::PayloadKind;
use nightdesk_types::{AgentId, BotId, TenantId, TenantScope};
use uuid::Uuid;

use super::*;
use crate::letter::Route;
use crate::letter::{GrantedPeer, LetterEntry, NamedAgent};

pub(super) fn now() -> Timestamp {
    Timestamp::from_second(1_000_000).unwrap()
}

pub(super) fn party(tenant: u128, agent: u128) -> Party {
    let tenant = TenantId::from_uuid(Uuid::from_u128(tenant));
    Party {
        scope: TenantScope::for_tenant(tenant),
        agent: AgentId::from_uuid(Uuid::from_u128(agent)),
    }
}

pub(super) fn posting(id: u128, from: Party, to: Party, dispatch_id: &str) -> Posting {
    let letter = NewLetter {
        id: LetterId::from_uuid(Uuid::from_u128(id)),
        from,
        to,
        dispatch_id: dispatch_id.to_owned(),
        route: Route::Deliver,
        kind: PayloadKind::Augment,
        session: None,
        correlation_id: None,
        when: None,
        wait: None,
        by_outlet: false,
    };
    let bot = BotId::from_uuid(Uuid::nil());
    let entry = LetterEntry { bot, chat_id: format!("letter:{id}"), body: vec![b'x'; 10] };
    Posting { letter, entry }
}

pub(super) fn good() -> LetterFacts {
    let room = InboxCapacity { entries: 0, entries_max: 100, bytes: 0, bytes_max: 1_000 };
    LetterFacts { capacity: Some(room), ..LetterFacts::default() }
}

fn decided(posting: &Posting, facts: &LetterFacts) -> LetterDecision {
    decide(&posting.letter, posting.entry.body.len(), facts, now())
}

#[test]
fn the_first_reason_in_order_counts() {
    let (own, abroad) =
        (posting(1, party(1, 1), party(1, 2), "d"), posting(1, party(1, 1), party(2, 2), "d"));
    let first = LetterId::from_uuid(Uuid::from_u128(9));
    let full = InboxCapacity { entries: 3, entries_max: 3, bytes: 30, bytes_max: 1_000 };
    let heavy = InboxCapacity { entries: 3, entries_max: 100, bytes: 30, bytes_max: 39 };
    let alone = InboxCapacity { entries: 0, entries_max: 100, bytes: 0, bytes_max: 1 };
    let both = LetterGrants { by_sender: true, by_recipient: true };
    let one = LetterGrants { by_sender: true, by_recipient: false };
    let refuse = LetterDecision::Refuse;
    let in_room = |room| LetterFacts { capacity: Some(room), ..good() };
    let worst = LetterFacts { highest_hop: HOPS_MAX, ..in_room(full) };
    let cases = [
        (
            "a repeat",
            &abroad,
            LetterFacts { repeated: Some(first), ..worst },
            LetterDecision::Repeat(first),
        ),
        (
            "one grant",
            &abroad,
            LetterFacts { grants: one, ..worst },
            refuse(PutRefusal::NotGranted),
        ),
        (
            "nobody there",
            &own,
            LetterFacts { capacity: None, ..worst },
            refuse(PutRefusal::UnknownAgent),
        ),
        (
            "too many hops",
            &abroad,
            LetterFacts { grants: both, ..worst },
            refuse(PutRefusal::TooManyHops),
        ),
        ("too many entries", &own, in_room(full), refuse(PutRefusal::InboxFull)),
        ("too many bytes", &own, in_room(heavy), refuse(PutRefusal::InboxFull)),
    ];
    for (name, posting, facts, want) in cases {
        assert_eq!(decided(posting, &facts), want, "{name}");
    }
    let written = decided(&own, &in_room(alone));
    assert!(matches!(written, LetterDecision::Write { hop: 1, place: LetterPlace::Inbox, .. }));
}

#[test]
fn a_letter_that_does_not_go_into_the_inbox_now_needs_no_room() {
    let full = LetterFacts { capacity: Some(InboxCapacity::default()), ..good() };
    let later = now() + Duration::from_secs(1);
    let cases = [
        ("later", Some(later), false, Ok(LetterPlace::Later)),
        ("due now", Some(now()), false, Err(PutRefusal::InboxFull)),
        ("by another way", None, true, Ok(LetterPlace::Outlet)),
        ("by another way, due now", Some(now()), true, Ok(LetterPlace::Later)),
        ("at once", None, false, Err(PutRefusal::InboxFull)),
    ];
    for (name, when, goes_out, want) in cases {
        let mut posting = posting(1, party(1, 1), party(1, 2), "d");
        (posting.letter.when, posting.letter.by_outlet) = (when, goes_out);
        let got = match decided(&posting, &full) {
            LetterDecision::Write { place, .. } => Ok(place),
            LetterDecision::Refuse(refusal) => Err(refusal),
            LetterDecision::Repeat(_) => panic!("{name}: nothing was repeated"),
        };
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn a_due_letter_waits_for_room_and_is_dropped_without_its_grants() {
    let (from, to) = (party(1, 1), party(2, 2));
    let both = LetterGrants { by_sender: true, by_recipient: true };
    let room = good().capacity;
    let facts = DueFacts { from, to, grants: both, capacity: room, body_bytes: Some(10) };
    let released = LetterGrants { by_recipient: false, ..both };
    let cases = [
        ("with room", facts, DueDecision::Deliver),
        (
            "full",
            DueFacts { capacity: Some(InboxCapacity::default()), ..facts },
            DueDecision::WaitForRoom,
        ),
        ("a grant taken back", DueFacts { grants: released, ..facts }, DueDecision::Drop),
        ("delivered before", DueFacts { body_bytes: None, ..facts }, DueDecision::Drop),
        ("no agent", DueFacts { capacity: None, ..facts }, DueDecision::Drop),
    ];
    for (name, facts, want) in cases {
        assert_eq!(decide_due(&facts), want, "{name}");
    }
}

#[test]
fn the_first_reply_in_time_counts() {
    let (past, future) = (now(), now() + Duration::from_secs(1));
    let cases = [
        ("in time", LetterState::Put, Some(future), ReplyOutcome::Taken),
        ("nobody waits", LetterState::Put, None, ReplyOutcome::Taken),
        ("at the end of the wait", LetterState::Put, Some(past), ReplyOutcome::Late),
        ("timed out", LetterState::TimedOut, Some(past), ReplyOutcome::Late),
        ("replied", LetterState::Replied, Some(past), ReplyOutcome::Again),
        ("not due", LetterState::Scheduled, None, ReplyOutcome::Unknown),
    ];
    for (name, state, reply_by, want) in cases {
        assert_eq!(decide_reply(state, reply_by, now()), want, "{name}");
    }
}

#[test]
fn an_address_names_an_own_agent_or_one_that_both_sides_granted() {
    let (from, own, peer) = (party(1, 1), party(1, 2), party(2, 3));
    let named = NamedAgent { id: own.agent, name: "perry".to_owned() };
    let granted = |by_recipient| {
        Some(GrantedPeer { party: peer, grants: LetterGrants { by_sender: true, by_recipient } })
    };
    let none = AddressFacts::default;
    let by_id = peer.agent.to_string();
    let found = |party, name: &str| Ok(Recipient { party, name: name.to_owned() });
    let cases = [
        ("perry", AddressFacts { own: Some(named), ..none() }, found(own, "perry")),
        ("nobody", none(), Err(AddressRefusal::UnknownAgent)),
        (&by_id, AddressFacts { peer: granted(true), ..none() }, found(peer, &by_id)),
        (&by_id, AddressFacts { peer: granted(false), ..none() }, Err(AddressRefusal::NotGranted)),
        (&by_id, none(), Err(AddressRefusal::NotGranted)),
    ];
    for (agent, facts, want) in cases {
        let query = AddressQuery { from, agent: agent.to_owned() };
        assert_eq!(decide_recipient(&query, &facts), want, "{agent} {facts:?}");
    }
}
