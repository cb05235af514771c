//! Decides which entries get a turn and which are acked.

use std::collections::{HashSet, VecDeque};

use nightdesk_protocol::Frame;
use nightdesk_protocol::session_key::SessionKey;

use super::handled_entries::HandledEntries;
use super::{Content, SessionEffect, Ticket, TurnResult, TurnStart};
use crate::limits::{HANDLED_KEPT_MAX, TURNS_MAX, WAITING_ENTRIES_MAX};

/// Entries of the desk that are not finished.
#[derive(Debug)]
pub(super) struct Entries {
    /// In the order of arrival.
    waiting: VecDeque<WaitingEntry>,
    turns: Vec<RunningTurn>,
    handled: HandledEntries,
    /// Entries that this line delivered and that were not acked on it.
    given: HashSet<String>,
    tickets: u64,
}

#[derive(Debug)]
struct WaitingEntry {
    session: SessionKey,
    name: Option<String>,
    content: Content,
}

#[derive(Debug)]
struct RunningTurn {
    ticket: Ticket,
    session: SessionKey,
    name: Option<String>,
}

/// More entries arrived than can wait.
#[derive(Debug)]
pub(super) struct TooManyEntries;

impl Entries {
    pub(super) fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            turns: Vec::new(),
            handled: HandledEntries::with_capacity(HANDLED_KEPT_MAX),
            given: HashSet::new(),
            tickets: 0,
        }
    }

    /// Takes an entry from the desk. An entry that was handled before is only acked again.
    pub(super) fn accept(
        &mut self,
        content: Content,
        name: Option<String>,
        effects: &mut Vec<SessionEffect>,
    ) -> Result<(), TooManyEntries> {
        if let Some(name) = &name {
            self.given.insert(name.clone());
            if self.handled.contains(name) {
                self.ack(name, effects);
                return Ok(());
            }
            if self.is_held(name) {
                return Ok(());
            }
        }
        if self.waiting.len() == WAITING_ENTRIES_MAX {
            return Err(TooManyEntries);
        }
        // A source without a session key does not come from a Nightdesk; it stays unacked.
        if let Some(session) = content.session() {
            self.waiting.push_back(WaitingEntry { session, name, content });
        }
        Ok(())
    }

    /// Begins every turn that may begin: one at a time of each session, in order.
    pub(super) fn begin(&mut self, effects: &mut Vec<SessionEffect>) {
        while self.turns.len() < TURNS_MAX {
            let idle =
                |waiting: &WaitingEntry| !self.turns.iter().any(|t| t.session == waiting.session);
            let Some(index) = self.waiting.iter().position(idle) else { return };
            let Some(WaitingEntry { session, name, content }) = self.waiting.remove(index) else {
                return;
            };
            let ticket = Ticket(self.tickets);
            self.tickets += 1;
            let entry_id = name.clone();
            self.turns.push(RunningTurn { ticket, session: session.clone(), name });
            let start = TurnStart { ticket, session, entry_id, content };
            effects.push(SessionEffect::Handle(Box::new(start)));
        }
    }

    /// Marks the entry as taken: from here on it never gets a turn again.
    pub(super) fn mark_taken(&mut self, ticket: Ticket, effects: &mut Vec<SessionEffect>) {
        let turn = self.turns.iter().find(|turn| turn.ticket == ticket);
        if let Some(name) = turn.and_then(|turn| turn.name.clone()) {
            self.handled.insert(&name);
            self.ack(&name, effects);
        }
    }

    /// Ends a turn. After a failure the entry stays unacked and is delivered again on another line.
    pub(super) fn end_turn(
        &mut self,
        ticket: Ticket,
        how: TurnResult,
        effects: &mut Vec<SessionEffect>,
    ) {
        match how {
            TurnResult::Well => self.mark_taken(ticket, effects),
            TurnResult::Badly => {}
        }
        self.turns.retain(|turn| turn.ticket != ticket);
    }

    /// Returns the turn of exactly this session, if one is running.
    pub(super) fn turn_of(&self, session: &SessionKey) -> Option<Ticket> {
        self.turns.iter().find(|turn| turn.session == *session).map(|turn| turn.ticket)
    }

    /// Handles the end of the line. Waiting entries are delivered again on the next line, here or in another process;
    /// an entry without a name is not, so it stays.
    pub(super) fn line_ended(&mut self) {
        self.given.clear();
        self.waiting.retain(|waiting| waiting.name.is_none());
    }

    /// Returns true if no entry waits and no turn runs.
    pub(super) fn is_settled(&self) -> bool {
        self.waiting.is_empty() && self.turns.is_empty()
    }

    /// Returns true if this line delivered an entry that was not acked on it: the entry waits, its turn runs, or its
    /// turn failed and it is delivered again.
    pub(super) fn is_unacked(&self) -> bool {
        !self.given.is_empty()
    }

    fn is_held(&self, name: &str) -> bool {
        let named = |other: &Option<String>| other.as_deref() == Some(name);
        self.waiting.iter().any(|waiting| named(&waiting.name))
            || self.turns.iter().any(|turn| named(&turn.name))
    }

    /// Acks an entry. Only the line that delivered an entry takes its ack.
    fn ack(&mut self, name: &str, effects: &mut Vec<SessionEffect>) {
        if self.given.remove(name) {
            effects.extend(Frame::inbound_ack(name).map(SessionEffect::Say));
        }
    }
}
