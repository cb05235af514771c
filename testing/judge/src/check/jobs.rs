//! Groups the records of jobs by instant.

use std::collections::BTreeMap;

use crate::event::JobAnswer;
use crate::history::{Fault, FireReceipt, FireRow, History, JobAsk, JobWish, Kind, Mark};
use crate::names::Name;

/// Maximum duration of a call. After it, another node may deliver the fire.
pub(super) const HELD_MS: u64 = 10_000;

/// Components on the path of a fire.
const ON_THE_WAY: [Kind; 3] = [Kind::Node, Kind::Postgres, Kind::Target];

/// A job of an agent.
#[derive(Debug, Default)]
pub(super) struct Job<'h> {
    /// All requests about the job, in order of time.
    pub(super) asks: Vec<&'h JobAsk>,
    /// The instants, by their time.
    pub(super) instants: BTreeMap<u64, Instant<'h>>,
}

/// An instant of a job. All its lists are in order of time.
#[derive(Debug, Default)]
pub(super) struct Instant<'h> {
    /// The requests that armed it.
    pub(super) arms: Vec<&'h JobAsk>,
    pub(super) receipts: Vec<&'h FireReceipt>,
    pub(super) rows: Vec<&'h FireRow>,
}

/// Returns all jobs, by agent and name.
pub(super) fn all(history: &History) -> BTreeMap<(Name, Name), Job<'_>> {
    let mut jobs: BTreeMap<_, Job<'_>> = BTreeMap::new();
    for ask in &history.job_asks {
        let job = jobs.entry((ask.agent, ask.job)).or_default();
        job.asks.push(ask);
        if let JobWish::Arm { fire_at_us, .. } = ask.wish {
            job.instants.entry(fire_at_us).or_default().arms.push(ask);
        }
    }
    for receipt in &history.fire_receipts {
        let job = jobs.entry((receipt.agent, receipt.job)).or_default();
        job.instants.entry(receipt.fire_at_us).or_default().receipts.push(receipt);
    }
    for row in &history.fire_rows {
        let job = jobs.entry((row.agent, row.job)).or_default();
        job.instants.entry(row.fire_at_us).or_default().rows.push(row);
    }
    jobs
}

/// Returns true if there was a fault on the path of a fire.
pub(super) fn was_broken(history: &History, from: Mark, until: Mark) -> bool {
    broken(history, from, until).next().is_some()
}

fn broken(history: &History, from: Mark, until: Mark) -> impl Iterator<Item = &Fault> {
    let is_on_the_way = |fault: &&Fault| ON_THE_WAY.iter().any(|kind| fault.touches(*kind));
    history.faults.iter().filter(is_on_the_way).filter(move |fault| fault.was_on(from, until))
}

impl<'h> Job<'h> {
    /// Returns the requests that may have prevented a delivery: a cancel, or an arming of another instant.
    pub(super) fn undoers(&self, history: &History, instant: &Instant<'_>) -> Vec<&'h JobAsk> {
        let Some(first) = instant.arms.first() else { return vec![] };
        let over = instant.over(history);
        let may_undo = |ask: &&&JobAsk| {
            let is_other = match ask.wish {
                JobWish::Arm { .. } => !instant.arms.iter().any(|arm| arm.mark == ask.mark),
                JobWish::Cancel => ask.told_at(JobAnswer::Unknown).is_none(),
            };
            let in_time = over.is_none_or(|over| ask.mark.at_ns < over.at_ns);
            is_other && in_time && ask.may_be_done_after(first.mark)
        };
        self.asks.iter().filter(may_undo).copied().collect()
    }
}

impl Instant<'_> {
    /// Returns its time on the clock of this history.
    pub(super) fn due_ns(&self) -> Option<u64> {
        self.arms.iter().find_map(|arm| match arm.wish {
            JobWish::Arm { due_ns, .. } => Some(due_ns),
            JobWish::Cancel => None,
        })
    }

    /// Returns the time when the agent first knew that it is armed.
    pub(super) fn armed(&self) -> Option<Mark> {
        self.arms.iter().filter_map(|arm| arm.told_at(JobAnswer::Armed)).min()
    }

    /// Returns the time after which no earlier request can arm it any more.
    pub(super) fn settled(&self) -> Option<Mark> {
        let told = self.arms.iter().map(|arm| arm.told().map(|(mark, _)| mark));
        told.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Returns the maximum number of armings. A second request for an armed instant changes nothing, but one after the
    /// delivery arms it anew.
    pub(super) fn armings_max(&self) -> usize {
        let told = self.receipts.first().map(|receipt| receipt.mark);
        let is_after = |arm: &&&JobAsk| told.is_none_or(|told| arm.may_be_done_after(told));
        self.arms.len().min(1 + self.arms.iter().filter(is_after).count())
    }

    /// Returns the time after which no request can undo it: its agent took it as often as it may have been armed, and
    /// the desk could record that.
    fn over(&self, history: &History) -> Option<Mark> {
        let heard = self.receipts.iter().filter_map(|told| Some((told.fire, told.heard()?)));
        let heard: BTreeMap<Name, Mark> = heard.collect();
        if heard.len() < self.armings_max() {
            return None;
        }
        let heard = heard.into_values().max()?;
        let (from, until) = (heard.minus_ms(HELD_MS), heard.plus_ms(HELD_MS));
        let mut over = heard;
        for fault in broken(history, from, until) {
            over = over.max(fault.off?.plus_ms(HELD_MS)).max(until);
        }
        Some(over)
    }
}
