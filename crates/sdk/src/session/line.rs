//! A session's state of its current line.

use std::time::Duration;

use nightdesk_protocol::descriptor::Descriptor;
use nightdesk_types::Moment;
use nightdesk_types::limits::{DEAD_LINE, PING_EVERY};

use super::SessionEffect;
use crate::limits::{GREET_WAIT, IDLE_WAIT};
use crate::status::Trouble;

/// An open line.
#[derive(Debug)]
pub(super) struct AgentLine {
    opened_at: Moment,
    alive_at: Moment,
    ping_at: Moment,
    hellos: usize,
    descriptors: Vec<Descriptor>,
    idling: Option<Idling>,
}

/// The line is about to be closed.
#[derive(Clone, Copy, Debug)]
struct Idling {
    why: IdleReason,
    until: Moment,
    acked: bool,
}

/// The reason that a line goes idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleReason {
    /// The agent requested it. It is final.
    Told,
    /// The line was quiet. Any work before the line is closed cancels it.
    Quiet,
}

impl AgentLine {
    pub(super) fn new(now: Moment, hellos: usize) -> Self {
        Self {
            opened_at: now,
            alive_at: now,
            ping_at: now + PING_EVERY,
            hellos,
            descriptors: Vec::new(),
            idling: None,
        }
    }

    /// Records a sign of life of the desk.
    pub(super) fn record_alive(&mut self, now: Moment) {
        self.alive_at = now;
    }

    /// Returns true if every hello is answered.
    pub(super) fn is_live(&self) -> bool {
        self.descriptors.len() == self.hellos
    }

    /// Takes the answer to the next hello. Returns all answers after the last.
    pub(super) fn take_descriptor(&mut self, descriptor: Descriptor) -> Option<Vec<Descriptor>> {
        if self.is_live() {
            return None;
        }
        self.descriptors.push(descriptor);
        self.is_live().then(|| self.descriptors.clone())
    }

    /// Begins to go idle. Returns true if it was not in progress before.
    pub(super) fn go_idle(&mut self, now: Moment, why: IdleReason) -> bool {
        let fresh = self.idling.is_none();
        let begun = Idling { why, until: now + IDLE_WAIT, acked: false };
        let idling = self.idling.get_or_insert(begun);
        if why == IdleReason::Told {
            idling.why = why;
        }
        fresh
    }

    /// Handles work. It cancels going idle because of quiet; a late answer to the announcement is ignored.
    pub(super) fn cancel_quiet_idle(&mut self) {
        self.idling.take_if(|idling| idling.why == IdleReason::Quiet);
    }

    /// Records that the desk confirmed the idle announcement.
    pub(super) fn record_idle_ack(&mut self) {
        if let Some(idling) = &mut self.idling {
            idling.acked = true;
        }
    }

    /// Returns the reason of going idle, if it is in progress.
    pub(super) fn going_idle(&self) -> Option<IdleReason> {
        self.idling.map(|idling| idling.why)
    }

    /// Returns true if the desk confirmed the idle announcement.
    pub(super) fn is_idle_acked(&self) -> bool {
        self.idling.is_some_and(|idling| idling.acked)
    }

    /// Returns true if going idle has reached its timeout.
    pub(super) fn is_idle_late(&self, now: Moment) -> bool {
        self.idling.is_some_and(|idling| now >= idling.until)
    }

    /// Returns the current problem of the line.
    pub(super) fn trouble(&self, now: Moment) -> Option<Trouble> {
        if now.since(self.alive_at) >= DEAD_LINE {
            return Some(Trouble::Silent);
        }
        let greeted_late = !self.is_live() && now >= self.opened_at + GREET_WAIT;
        greeted_late.then_some(Trouble::NotGreeted)
    }

    pub(super) fn ping(&mut self, now: Moment, effects: &mut Vec<SessionEffect>) {
        if now >= self.ping_at {
            self.ping_at = now + PING_EVERY;
            effects.push(SessionEffect::Ping);
        }
    }

    pub(super) fn deadline(&self) -> Moment {
        let greeted = (!self.is_live()).then_some(self.opened_at + GREET_WAIT);
        let idle = self.idling.map(|idling| idling.until);
        let lively = self.ping_at.min(self.alive_at + DEAD_LINE);
        [greeted, idle].into_iter().flatten().fold(lively, Moment::min)
    }

    /// Returns the time that the line was open.
    pub(super) fn open_for(&self, now: Moment) -> Duration {
        now.since(self.opened_at)
    }
}
