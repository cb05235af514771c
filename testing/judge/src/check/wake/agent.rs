//! One agent through a run: on a line or away, with entries that wait or without.

use std::collections::BTreeSet;

use crate::history::{Fault, History, Kind, Mark};

/// An entry waits so long before anybody is called.
const WAITS_MS: u64 = 5_000;

/// And so long after that a call must have come.
const CALL_MS: u64 = 10_000;

/// After a line that the desk ended, its gateway is given so long to come back by itself.
const GRACE_MS: u64 = 35_000;

/// A line that is only silent is suspect after so long.
const SUSPECT_MS: u64 = 45_000;

/// Nobody is called again sooner than this.
const CALL_GAP_MS: u64 = 15_000;

/// A call counts that came so long before the line was gone: it was suspect then.
const CALLED_BEFORE_MS: u64 = 90_000;

/// What happens to an agent.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// An entry for it was taken.
    Told,
    /// It is done with one.
    Done {
        /// When that was taken.
        told: Mark,
    },
    Opened,
    Closed(Away),
    Frozen,
    Thawed,
    Called,
    /// Nothing more is known.
    Over,
}

/// Why an agent has no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Away {
    /// It left, or never came.
    Left,
    EndedByDesk,
    Frozen,
}

/// A call that did not come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missed {
    /// When the entry was taken that waited.
    pub(super) told: Mark,
    /// Since when there was no line.
    pub(super) away: Mark,
}

/// An agent, as it stands.
pub(super) struct Agent<'a> {
    history: &'a History,
    waiting: BTreeSet<Mark>,
    lines: usize,
    left: (Mark, Away),
    frozen: Option<Mark>,
    called: Option<Mark>,
    /// By when it must be called, and for what. One miss is told for each time it is away.
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

    /// Lets happen what happened; answers with the calls that did not come.
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

    /// Since when and why it has no line, or none that answers.
    fn away(&self) -> Option<(Mark, Away)> {
        if self.lines == 0 {
            return Some(self.left);
        }
        self.frozen.map(|frozen| (frozen, Away::Frozen))
    }

    /// By when it must be called.
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

    /// The same, but that the time begins anew after each fault that may keep a call from coming.
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
