//! I10: an armed instant is delivered, taken once and under one id, and never early.
//!
//! Every call has the same id until the agent takes the fire. After that the agent is called no more, unless its
//! response was lost. An instant that the agent replaced is not delivered either, except by a call in progress.

use std::collections::{BTreeMap, BTreeSet};

use super::jobs::{self, HELD_MS, Instant, Job, was_broken};
use super::{Findings, Invariant};
use crate::event::JobAnswer;
use crate::history::{FireReceipt, FireRow, History, JobAsk, Mark};
use crate::names::Name;

/// Maximum difference between the clocks of one machine.
const EARLY_MS: u64 = 50;

/// Nanoseconds in a millisecond.
const MILLI_NS: u64 = 1_000_000;

/// Reasons for which a fire may end without its agent.
const UNDONE: [&str; 2] = ["cancelled", "superseded"];

pub(super) fn check(history: &History, findings: &mut Findings) {
    for ((agent, name), job) in &jobs::all(history) {
        one_row_each(history, findings, job);
        for (fire_at_us, instant) in &job.instants {
            let called =
                format!("{} of {}, due {fire_at_us}", history.text(*name), history.text(*agent));
            let undoers = job.undoers(history, instant);
            let mut look = Look { history, findings, instant, undoers, called };
            look.receipts();
            look.superseded(job);
            look.ids();
            look.rows();
        }
    }
    ids_are_used_once(history, findings);
}

/// The check of one instant of a job.
struct Look<'a, 'h> {
    history: &'h History,
    findings: &'a mut Findings,
    instant: &'a Instant<'h>,
    undoers: Vec<&'h JobAsk>,
    called: String,
}

impl Look<'_, '_> {
    fn wrong(&mut self, marks: impl IntoIterator<Item = Mark>, why: &str) {
        let arms = self.instant.arms.iter().map(|arm| arm.mark);
        let answers = self.instant.arms.iter().filter_map(|arm| Some(arm.answer?.0));
        let undoers = self.undoers.iter().map(|ask| ask.mark);
        let marks = arms.chain(answers).chain(undoers).chain(marks);
        self.findings.add(Invariant::Fire, marks, || format!("{} {why}", self.called));
    }

    /// Checks that the agent armed the instant, that no delivery is early, and that none follows after it was taken.
    fn receipts(&mut self) {
        let asked = self.instant.arms.first().map(|arm| arm.mark);
        let due = self.instant.due_ns();
        let mut heard: BTreeMap<Name, Mark> = BTreeMap::new();
        for receipt in &self.instant.receipts {
            let at = receipt.mark;
            if asked.is_none_or(|asked| asked > at) {
                self.wrong([at], "was told, and nobody had asked for it");
            }
            if due.is_some_and(|due_ns| at.at_ns + EARLY_MS * MILLI_NS < due_ns) {
                self.wrong([at], "was told too early");
            }
            if let Some(taken) = heard.get(&receipt.fire).copied()
                && taken < at
                && !was_broken(self.history, taken.minus_ms(HELD_MS), at)
            {
                self.wrong([taken, at], "was told again after it was taken");
            }
            if let Some(mark) = receipt.heard() {
                heard.entry(receipt.fire).or_insert(mark);
            }
        }
    }

    /// Checks that a replaced instant is no longer delivered, except by a call in progress.
    fn superseded(&mut self, job: &Job<'_>) {
        let Some(settled) = self.instant.settled() else { return };
        let newer = |ask: &&&JobAsk| {
            ask.mark > settled && !self.instant.arms.iter().any(|arm| arm.mark == ask.mark)
        };
        let armed = job.asks.iter().filter(newer).filter_map(|ask| ask.told_at(JobAnswer::Armed));
        let Some(armed) = armed.min() else { return };
        let too_late = |receipt: &&&FireReceipt| {
            receipt.mark.at_ns > armed.plus_ms(HELD_MS).at_ns
                && !was_broken(self.history, armed, receipt.mark)
        };
        let late: Vec<_> = self.instant.receipts.iter().filter(too_late).map(|r| r.mark).collect();
        for at in late {
            self.wrong([armed, at], "was told long after its job was armed anew");
        }
    }

    /// Checks that all tries of one arming have one id.
    fn ids(&mut self) {
        let told = self.instant.receipts.iter().map(|receipt| receipt.fire);
        let kept = self.instant.rows.iter().map(|row| row.fire);
        let ids: BTreeSet<Name> = told.chain(kept).collect();
        if ids.len() > self.instant.armings_max() {
            let told = self.instant.receipts.iter().map(|receipt| receipt.mark);
            let marks: Vec<_> = told.chain(self.instant.rows.iter().map(|row| row.mark)).collect();
            self.wrong(marks, &format!("has {} ids", ids.len()));
        }
    }

    /// Checks at the end of the run that the tables have the result, and that it is true.
    fn rows(&mut self) {
        let Some(quiesced) = self.history.quiesced else { return };
        if self.instant.due_ns().is_none_or(|due_ns| due_ns > quiesced.at_ns) {
            return;
        }
        for row in &self.instant.rows {
            if let Some(why) = self.wrong_with(row) {
                let told = self.instant.receipts.iter().filter(|told| told.fire == row.fire);
                let marks: Vec<_> = told.map(|told| told.mark).chain([row.mark]).collect();
                self.wrong(marks, &why);
            }
        }
        let is_owed = self.instant.armed().is_some() && self.undoers.is_empty();
        if is_owed && self.instant.rows.is_empty() {
            let told: Vec<_> = self.instant.receipts.iter().map(|told| told.mark).collect();
            self.wrong(told, "was armed, and the tables have no fire of it");
        }
    }

    fn wrong_with(&self, row: &FireRow) -> Option<String> {
        let took = |told: &&FireReceipt| told.fire == row.fire && told.taken().is_some();
        let cause = row.cause.map_or("nothing", |cause| self.history.text(cause));
        if !row.is_over() {
            return Some("is not over, though everybody had time to finish".to_owned());
        }
        if row.is_taken() {
            let took = self.instant.receipts.iter().copied().any(|told| took(&told));
            return (!took).then(|| "counts as taken, and its agent did not take it".to_owned());
        }
        let is_undone = UNDONE.contains(&cause) && !self.undoers.is_empty();
        (!is_undone).then(|| format!("was not taken, and the tables give as the cause: {cause}"))
    }
}

/// Checks that an arming has one fire.
fn one_row_each(history: &History, findings: &mut Findings, job: &Job<'_>) {
    let mut by_arming: BTreeMap<u64, &FireRow> = BTreeMap::new();
    for row in job.instants.values().flat_map(|instant| &instant.rows) {
        if let Some(other) = by_arming.insert(row.arming, row)
            && other.fire != row.fire
        {
            findings.add(Invariant::Fire, [other.mark, row.mark], || {
                let (job, agent) = (history.text(row.job), history.text(row.agent));
                format!("{job} of {agent} has two fires of its arming {}", row.arming)
            });
        }
    }
}

/// Checks that an id belongs to one instant of one job.
fn ids_are_used_once(history: &History, findings: &mut Findings) {
    let told = history.fire_receipts.iter();
    let told = told.map(|told| (told.fire, (told.agent, told.job, told.fire_at_us), told.mark));
    let kept = history.fire_rows.iter();
    let kept = kept.map(|row| (row.fire, (row.agent, row.job, row.fire_at_us), row.mark));
    let mut first = BTreeMap::new();
    for (fire, whose, mark) in told.chain(kept) {
        let (before, other) = *first.entry(fire).or_insert((whose, mark));
        if before != whose {
            findings.add(Invariant::Fire, [other, mark], || {
                format!("{} is the id of two fires", history.text(fire))
            });
        }
    }
}

#[cfg(test)]
mod tests;
