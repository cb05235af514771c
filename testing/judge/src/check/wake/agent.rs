//! Follows one agent through a run: with or without a line, with or without waiting entries.

use std::collections::BTreeSet;

use crate::history::{Fault, History, Kind, Mark};

/// Time that an entry waits before the agent is called.
const WAITS_MS: u64 = 5_000;

/// Time limit of the call after that.
const CALL_MS: u64 = 10_000;

/// Grace period of a gateway to come back after the desk ended its line.
const GRACE_MS: u64 = 35_000;

/// Time after which a silent line is suspect.
const SUSPECT_MS: u64 = 45_000;

/// Minimum interval between two calls.
const CALL_GAP_MS: u64 = 15_000;

/// A call counts if it came so long before the line was gone, because the line was suspect then.
const CALLED_BEFORE_MS: u64 = 90_000;

/// Events of an agent.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// An entry for the agent was accepted.
    Told,
    /// The agent is done with an entry.
    Done {
        /// The time when that entry was accepted.
        told: Mark,
    },
    Opened,
    Closed(Away),
    Frozen,
    Thawed,
    Called,
    /// End of the history.
    Over,
}

/// Reasons for which an agent has no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Away {
    /// The agent left or never came.
    Left,
    EndedByDesk,
    Frozen,
}

/// A missing call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missed {
    /// The time when the waiting entry was accepted.
    pub(super) told: Mark,
    /// The time since which there was no line.
    pub(super) away: Mark,
}

/// State of an agent.
pub(super) struct Agent<'a> {
    history: &'a History,
    waiting: BTreeSet<Mark>,
    lines: usize,
    left: (Mark, Away),
    frozen: Option<Mark>,
    called: Option<Mark>,
    /// Deadline of the next call, and the report if it is missed. One miss is reported per absence.
    due: Option<(Mark, Missed)>,
    is_told: bool,
}

impl<'a> Agent<'a> {
    pub(super) fn new(history: &'a History) -> Self {
        let begin = Mark { at_ns: 0, record: 0 };
        Self {
            history,
            waiting: BTreeSet::new(),
            lines: 0,
            left: (begin, Away::Left),
            frozen: None,
            called: None,
            due: None,
            is_told: false,
        }
    }

    /// Applies the events, and returns the missing calls.
    pub(super) fn live(mut self, happened: Vec<(Mark, What)>) -> Vec<Missed> {
        let mut missed = Vec::new();
        for (mark, what) in happened {
            let due = self.due.filter(|(due, _)| due.at_ns < mark.at_ns);
            self.is_told |= due.is_some();
            missed.extend(due.map(|(_, missed)| missed));
            self.step(mark, what);
            self.due = self.away().filter(|_| !self.is_told).and_then(|away| self.due(away));
        }
        missed
    }

    fn step(&mut self, mark: Mark, what: What) {
        match what {
            What::Told => {
                self.waiting.insert(mark);
            }
            What::Done { told } => {
                self.waiting.remove(&told);
            }
            What::Opened => self.lines += 1,
            What::Closed(away) => {
                self.lines = self.lines.saturating_sub(1);
                self.left = (mark, away);
            }
            What::Frozen => self.frozen = Some(mark),
            What::Thawed => self.frozen = None,
            What::Called => self.called = Some(mark),
            What::Over => {}
        }
        if self.away().is_none() {
            self.is_told = false;
        }
    }

    /// Returns the start and the reason of the agent's absence, if it has no responding line.
    fn away(&self) -> Option<(Mark, Away)> {
        if self.lines == 0 {
            return Some(self.left);
        }
        self.frozen.map(|frozen| (frozen, Away::Frozen))
    }

    /// Returns the deadline of the next call.
    fn due(&self, (away, why): (Mark, Away)) -> Option<(Mark, Missed)> {
        let told = *self.waiting.first()?;
        let from = told.max(away);
        let counts = self.called.is_some_and(|called| {
            called > told && called.plus_ms(CALLED_BEFORE_MS).at_ns >= away.at_ns
        });
        if counts {
            return None;
        }
        let grace_ms = match why {
            Away::Left => WAITS_MS,
            Away::EndedByDesk => GRACE_MS,
            Away::Frozen => SUSPECT_MS,
        };
        let due = from.plus_ms(WAITS_MS).max(away.plus_ms(grace_ms)).plus_ms(CALL_MS);
        let gap = self.called.map(|called| called.plus_ms(CALL_GAP_MS + WAITS_MS));
        let due = self.after_faults(from, gap.map_or(due, |gap| gap.max(due)))?;
        Some((due, Missed { told, away }))
    }

    /// Returns the deadline, restarted after each fault that may prevent a call.
    fn after_faults(&self, from: Mark, mut due: Mark) -> Option<Mark> {
        let hinders = |fault: &&Fault| {
            [Kind::Target, Kind::Node, Kind::Postgres].into_iter().any(|kind| fault.touches(kind))
        };
        for fault in self.history.faults.iter().filter(hinders) {
            if fault.was_on(from, due) {
                due = due.max(fault.off?.plus_ms(WAITS_MS + CALL_MS));
            }
        }
        Some(due)
    }
}
