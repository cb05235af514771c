//! The book: every job of an agent, its next time, and the fires that were claimed. All decisions about jobs are made
//! here, without I/O; a store only compares and replaces the book.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use nightdesk_types::Timestamp;
use serde::{Deserialize, Serialize};

use super::job::Job;
use super::limits::{CLOCKS_APART, FIRES_KEPT_MAX, JOBS_MAX};

/// All jobs of an agent and their state, as a [`Store`](super::Store) stores them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Book {
    version: u64,
    jobs: BTreeMap<String, JobState>,
    /// Claimed fires, the latest last.
    fires: VecDeque<String>,
}

/// A job and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct JobState {
    job: Job,
    /// `None`: the job has ended. It stays in the book, so that setting it again does not restart it.
    next_run_at: Option<Timestamp>,
    last_run_at: Option<Timestamp>,
    runs: u32,
}

/// A delivered fire.
#[derive(Clone, Copy, Debug)]
pub(super) struct FireDelivery<'a> {
    pub(super) job: &'a str,
    /// The time for which it was armed, as written then. `None`: the current due time.
    pub(super) fire_at: Option<&'a str>,
    pub(super) fire_id: &'a str,
}

/// Prefix of the id of a fire that the agent makes itself. A desk's id is a UUID.
const LOCAL_FIRE: &str = "local:";

/// Returns the id of an agent's own fire, the same in every process that shares the book.
pub(super) fn local_fire_id(job: &str, fire_at: &str) -> String {
    format!("{LOCAL_FIRE}{job}:{fire_at}")
}

impl FireDelivery<'_> {
    /// Returns true if the agent made the fire itself.
    pub(super) fn is_local(&self) -> bool {
        self.fire_id.starts_with(LOCAL_FIRE)
    }
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Claim {
    /// The claim succeeded, and no other claim of this fire can.
    Won { job: Job, fire_at: Timestamp, run: u32 },
    /// The fire was for another time than the job's due time: it ran, or the job was changed.
    Old,
    /// Its token was used before, for this fire or for another.
    Used,
    /// The job is not due yet, by the agent's clock.
    Early,
    /// The job does not exist, or it has ended.
    Gone,
}

/// A job that has not ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DueJob<'a> {
    pub(super) job: &'a Job,
    pub(super) at: Timestamp,
    /// True if another time follows this one.
    pub(super) recurring: bool,
}

/// The maximum number of jobs is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BookFull;

impl Book {
    /// Returns the number of changes. A store replaces a book only by the one of the next version.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Returns the changed book, to be stored in place of this one. `None`: nothing was changed.
    pub(super) fn with_change<T>(&self, change: impl Fn(&mut Self) -> T) -> (T, Option<Self>) {
        let mut next = self.clone();
        let outcome = change(&mut next);
        if next == *self {
            return (outcome, None);
        }
        next.version += 1;
        (outcome, Some(next))
    }

    /// Claims a fire: a successful claim moves the job's time, so that no second claim succeeds.
    pub(super) fn claim(&mut self, came: FireDelivery<'_>, now: Timestamp) -> Claim {
        let Some(kept) = self.jobs.get_mut(came.job) else { return Claim::Gone };
        let Some(due) = kept.next_run_at else { return Claim::Gone };
        if self.fires.iter().any(|fire| fire == came.fire_id) {
            return Claim::Used;
        }
        if came.fire_at.is_some_and(|fire_at| fire_at != format_time(due)) {
            return Claim::Old;
        }
        if now.checked_add(CLOCKS_APART).is_ok_and(|soon| due > soon) {
            return Claim::Early;
        }
        kept.advance(due, now);
        let (job, run) = (kept.job.clone(), kept.runs);
        self.fires.push_back(came.fire_id.to_owned());
        let surplus = self.fires.len().saturating_sub(FIRES_KEPT_MAX);
        self.fires.drain(..surplus);
        Claim::Won { job, fire_at: due, run }
    }

    /// Adds a job. An existing job with the same schedule continues unchanged, even if it has ended: an agent that sets
    /// its jobs at every start changes nothing.
    pub(super) fn set(&mut self, job: Job, now: Timestamp) -> Result<(), BookFull> {
        if let Some(kept) = self.jobs.get_mut(&job.id)
            && (&kept.job.schedule, kept.job.repeat) == (&job.schedule, job.repeat)
        {
            kept.job = job;
            return Ok(());
        }
        if !self.jobs.contains_key(&job.id) {
            self.make_room()?;
        }
        let next_run_at = job.schedule.first(now);
        let kept = JobState { job, next_run_at, last_run_at: None, runs: 0 };
        self.jobs.insert(kept.job.id.clone(), kept);
        Ok(())
    }

    /// Removes the job that ended first, if there is no room.
    fn make_room(&mut self) -> Result<(), BookFull> {
        if self.jobs.len() < JOBS_MAX {
            return Ok(());
        }
        let ended = self.jobs.values().filter(|kept| kept.next_run_at.is_none());
        let oldest = ended.min_by_key(|kept| kept.last_run_at).ok_or(BookFull)?.job.id.clone();
        self.jobs.remove(&oldest);
        Ok(())
    }

    /// Removes a job.
    pub(super) fn remove(&mut self, id: &str) {
        self.jobs.remove(id);
    }

    /// Skips times that the desk has not armed and that are too old to be made up for.
    pub(super) fn move_on(&mut self, armed: &BTreeSet<String>, now: Timestamp) {
        for (id, kept) in &mut self.jobs {
            let Some(due) = kept.next_run_at.filter(|_| !armed.contains(id)) else { continue };
            let late = due.checked_add(kept.job.made_up_for()).is_ok_and(|last| last < now);
            if late {
                kept.next_run_at = kept.job.schedule.next(due, now);
            }
        }
    }

    /// Returns every job that has not ended.
    pub(super) fn live_jobs(&self) -> impl Iterator<Item = DueJob<'_>> {
        self.jobs.values().filter_map(JobState::due_job)
    }

    /// Returns the due time of a job that has not ended.
    pub(super) fn due_job(&self, id: &str) -> Option<DueJob<'_>> {
        self.jobs.get(id)?.due_job()
    }
}

impl JobState {
    fn due_job(&self) -> Option<DueJob<'_>> {
        let is_last = self.job.repeat.is_some_and(|times| self.runs + 1 >= times.get());
        let recurring = self.job.schedule.recurs() && !is_last;
        Some(DueJob { job: &self.job, at: self.next_run_at?, recurring })
    }

    fn advance(&mut self, due: Timestamp, now: Timestamp) {
        self.runs = self.runs.saturating_add(1);
        self.last_run_at = Some(due);
        let was_last = self.job.repeat.is_some_and(|times| self.runs >= times.get());
        self.next_run_at = if was_last { None } else { self.job.schedule.next(due, now) };
    }
}

/// Formats a time for the wire. Times are compared byte for byte, so there is one format.
pub(super) fn format_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string()
}

#[cfg(test)]
mod tests;
