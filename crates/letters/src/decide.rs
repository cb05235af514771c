//! Decisions about letters: pure functions over grants, hops, quota and repeats.
//!
//! A store locks the inboxes of a batch, reads the facts of every letter, calls [`decide_batch`], and writes the
//! decisions. PostgreSQL, the memory store and the simulation share these functions.

use std::collections::HashMap;

use nightdesk_gate::{AdmittedLetter, LetterGrants, decide_letter};
use nightdesk_types::limits::HOPS_MAX;
use nightdesk_types::{AgentId, LetterId, Timestamp};

use crate::letter::{
    AddressFacts, AddressQuery, LetterState, NewLetter, Party, Posting, PostingOutcome,
    ReplyOutcome,
};

/// The entries that wait in an inbox, and the quota of its tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboxCapacity {
    /// Numbers that were given out and are not acked.
    pub entries: i64,
    /// The quota of entries.
    pub entries_max: i64,
    /// Bytes of the entries that wait. A store may report 0 while so few entries wait that the quota cannot matter.
    pub bytes: i64,
    /// The quota of bytes.
    pub bytes_max: i64,
}

impl InboxCapacity {
    /// Returns true if one more entry stays within the quota. An entry that is alone always fits by its bytes.
    pub fn has_room_for(&self, body_bytes: usize) -> bool {
        let bytes = self.bytes.saturating_add(byte_count(body_bytes));
        self.entries < self.entries_max && (self.bytes == 0 || bytes <= self.bytes_max)
    }

    fn add_entry(&mut self, body_bytes: usize) {
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(byte_count(body_bytes));
    }
}

fn byte_count(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The facts that decide on one letter, read under the lock of the recipient's inbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetterFacts {
    /// The stored letter of the same sender, recipient and dispatch.
    pub repeated: Option<LetterId>,
    /// The grants between the two agents.
    pub grants: LetterGrants,
    /// The recipient's inbox. `None`: there is no such agent.
    pub capacity: Option<InboxCapacity>,
    /// The highest hop of the letters that came to the sender lately; 0 if there is none.
    pub highest_hop: u32,
}

/// A decision about one letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterDecision {
    /// The store writes the letter.
    Write {
        /// The gate's proof that the letter may be sent.
        admitted: AdmittedLetter,
        /// The length of the chain of letters that this one ends, each sent while the one before was answered.
        hop: u32,
        /// The place to which the store writes it.
        place: LetterPlace,
    },
    /// The letter repeats this one, and nothing is written.
    Repeat(LetterId),
    /// Nothing is written.
    Refuse(PutRefusal),
}

/// The place of a letter that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterPlace {
    /// The recipient's inbox.
    Inbox,
    /// The letter's own row, until the schedule puts it.
    Later,
    /// The letter's own row alone: another way than the inbox delivers it.
    Outlet,
}

/// The reason why a letter is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutRefusal {
    /// The two tenants have not both granted it.
    NotGranted,
    /// There is no such agent.
    UnknownAgent,
    /// The letter would end a chain of too many letters.
    TooManyHops,
    /// The recipient's inbox is at its quota.
    InboxFull,
}

impl From<PutRefusal> for PostingOutcome {
    fn from(refusal: PutRefusal) -> Self {
        match refusal {
            PutRefusal::NotGranted => Self::NotGranted,
            PutRefusal::UnknownAgent => Self::Unknown,
            PutRefusal::TooManyHops => Self::TooManyHops,
            PutRefusal::InboxFull => Self::Full,
        }
    }
}

/// Decides about one letter whose body has `body_bytes` bytes.
pub fn decide(
    letter: &NewLetter,
    body_bytes: usize,
    facts: &LetterFacts,
    now: Timestamp,
) -> LetterDecision {
    if let Some(first) = facts.repeated {
        return LetterDecision::Repeat(first);
    }
    let Ok(admitted) = decide_letter(letter.from.key(), letter.to.key(), facts.grants) else {
        return LetterDecision::Refuse(PutRefusal::NotGranted);
    };
    let Some(room) = facts.capacity else {
        return LetterDecision::Refuse(PutRefusal::UnknownAgent);
    };
    let hop = facts.highest_hop.saturating_add(1);
    if hop > HOPS_MAX {
        return LetterDecision::Refuse(PutRefusal::TooManyHops);
    }
    // A letter for later is checked against the quota when it is due.
    let is_due = letter.when.is_none_or(|when| when <= now);
    if is_due && !letter.by_outlet && !room.has_room_for(body_bytes) {
        return LetterDecision::Refuse(PutRefusal::InboxFull);
    }
    LetterDecision::Write { admitted, hop, place: place_of(letter) }
}

const fn place_of(letter: &NewLetter) -> LetterPlace {
    match letter {
        NewLetter { when: Some(_), .. } => LetterPlace::Later,
        NewLetter { by_outlet: true, .. } => LetterPlace::Outlet,
        NewLetter { .. } => LetterPlace::Inbox,
    }
}

/// Decides about the letters of a batch, in order. A later letter is decided as if the earlier ones were stored.
pub fn decide_batch(
    postings: &[Posting],
    facts: &[LetterFacts],
    now: Timestamp,
) -> Vec<LetterDecision> {
    let mut written = BatchWrites::default();
    let decide_one = |(posting, facts): (&Posting, &LetterFacts)| {
        let facts = written.update_facts(&posting.letter, *facts);
        let decision = decide(&posting.letter, posting.entry.body.len(), &facts, now);
        written.add(posting, &facts, &decision);
        decision
    };
    postings.iter().zip(facts).map(decide_one).collect()
}

/// The sender, the recipient and the dispatch id, by which a repeat is recognised.
type DispatchKey = (Party, Party, String);

/// Changes that the earlier letters of a batch make to the facts of the later ones.
#[derive(Default)]
struct BatchWrites {
    letters: HashMap<DispatchKey, LetterId>,
    capacities: HashMap<Party, InboxCapacity>,
    hops: HashMap<Party, u32>,
}

impl BatchWrites {
    fn update_facts(&self, letter: &NewLetter, facts: LetterFacts) -> LetterFacts {
        let hop = self.hops.get(&letter.from).copied().unwrap_or(0);
        LetterFacts {
            repeated: facts.repeated.or_else(|| self.letters.get(&dispatch_key(letter)).copied()),
            capacity: self.capacities.get(&letter.to).copied().or(facts.capacity),
            highest_hop: facts.highest_hop.max(hop),
            ..facts
        }
    }

    fn add(&mut self, posting: &Posting, facts: &LetterFacts, decision: &LetterDecision) {
        let LetterDecision::Write { hop, place, .. } = decision else { return };
        let letter = &posting.letter;
        self.letters.insert(dispatch_key(letter), letter.id);
        let highest = self.hops.entry(letter.to).or_default();
        *highest = (*highest).max(*hop);
        if let (LetterPlace::Inbox, Some(mut room)) = (place, facts.capacity) {
            room.add_entry(posting.entry.body.len());
            self.capacities.insert(letter.to, room);
        }
    }
}

fn dispatch_key(letter: &NewLetter) -> DispatchKey {
    (letter.from, letter.to, letter.dispatch_id.clone())
}

/// The recipient of a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The agent, and its tenant.
    pub party: Party,
    /// The name by which the sender knows it: an agent of another tenant is known by its id.
    pub name: String,
}

/// The reason why an address names no recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressRefusal {
    /// There is no such agent, or the sender may not address it.
    UnknownAgent,
    /// The two tenants have not both granted it.
    NotGranted,
}

/// Decides which agent an address names: one of the sender's own tenant, or one that both tenants granted.
pub fn decide_recipient(
    query: &AddressQuery,
    facts: &AddressFacts,
) -> Result<Recipient, AddressRefusal> {
    if let Some(own) = &facts.own {
        let party = Party { scope: query.from.scope, agent: own.id };
        return Ok(Recipient { party, name: own.name.clone() });
    }
    if query.agent.parse::<AgentId>().is_err() {
        return Err(AddressRefusal::UnknownAgent);
    }
    let peer = facts.peer.ok_or(AddressRefusal::NotGranted)?;
    let admitted = decide_letter(query.from.key(), peer.party.key(), peer.grants);
    admitted.map_err(|_| AddressRefusal::NotGranted)?;
    Ok(Recipient { party: peer.party, name: query.agent.clone() })
}

/// The facts that decide on a letter that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueFacts {
    /// The sender.
    pub from: Party,
    /// The recipient.
    pub to: Party,
    /// The grants between the two agents.
    pub grants: LetterGrants,
    /// The recipient's inbox. `None`: there is no such agent any more.
    pub capacity: Option<InboxCapacity>,
    /// Bytes of the stored body. `None`: the letter was delivered already.
    pub body_bytes: Option<usize>,
}

/// A decision about a letter that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueDecision {
    /// The letter is delivered, and counts as put.
    Deliver,
    /// The inbox is at its quota. The letter stays scheduled.
    WaitForRoom,
    /// The letter is not delivered any more.
    Drop,
}

/// Decides about a letter that is due. A grant that was revoked meanwhile counts.
pub fn decide_due(facts: &DueFacts) -> DueDecision {
    let admitted = decide_letter(facts.from.key(), facts.to.key(), facts.grants);
    let (Ok(_), Some(body_bytes), Some(room)) = (admitted, facts.body_bytes, facts.capacity) else {
        return DueDecision::Drop;
    };
    if room.has_room_for(body_bytes) { DueDecision::Deliver } else { DueDecision::WaitForRoom }
}

/// Decides about a reply to a letter in this state. The first reply in time counts.
pub fn decide_reply(
    state: LetterState,
    reply_by: Option<Timestamp>,
    now: Timestamp,
) -> ReplyOutcome {
    match current_state(state, reply_by, now) {
        LetterState::Scheduled => ReplyOutcome::Unknown,
        LetterState::Replied => ReplyOutcome::Again,
        LetterState::TimedOut => ReplyOutcome::Late,
        LetterState::Put => ReplyOutcome::Taken,
    }
}

/// Returns the current state of a letter. If the time to reply is over, the letter has timed out.
pub fn current_state(
    state: LetterState,
    reply_by: Option<Timestamp>,
    now: Timestamp,
) -> LetterState {
    let is_over = reply_by.is_some_and(|by| now >= by);
    if state == LetterState::Put && is_over { LetterState::TimedOut } else { state }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
