//! Book: every job of an agent, when it is due next, and which fires it has taken. Everything that
//! is decided about them is decided here, without I/O; whoever keeps the book only compares and
//! replaces.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use nightdesk_types::Timestamp;
use serde::{Deserialize, Serialize};

use super::job::Job;
use super::limits::{CLOCKS_APART, FIRES_KEPT_MAX, JOBS_MAX};

/// Every job of an agent and how it stands, as a [`Store`](super::Store) keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Book {
    version: u64,
    jobs: BTreeMap<String, Kept>,
    /// The latest last.
    fires: VecDeque<String>,
}

/// A job and how it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    job: Job,
    /// `None`: it has ended, and is kept so that who sets it again does not begin it anew.
    next_run_at: Option<Timestamp>,
    last_run_at: Option<Timestamp>,
    runs: u32,
}

/// A fire that came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came<'a> {
    pub(super) job: &'a str,
    /// For when it was armed, as it was written then. `None`: for whatever is due.
    pub(super) fire_at: Option<&'a str>,
    pub(super) fire_id: &'a str,
}

/// What becomes of a fire.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Claim {
    /// It is ours, and nobody else can have it.
    Won { job: Job, fire_at: Timestamp, run: u32 },
    /// It was for another time than the job is due at: it ran, or the job was changed.
    Old,
    /// Its token was used before, for this fire or for another.
    Used,
    /// The job is not due yet, by our clock.
    Early,
    /// There is no such job, or it has ended.
    Gone,
}

/// A job that has not ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Due<'a> {
    pub(super) job: &'a Job,
    pub(super) at: Timestamp,
    /// Another time comes after this one.
    pub(super) recurring: bool,
}

/// Somebody wants one job too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Book {
    /// How often it was changed. A store replaces a book by the one of the next version only.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The same with changes, to be kept in the place of this one. `None`: nothing was changed.
    pub(super) fn changed<T>(&self, change: impl Fn(&mut Self) -> T) -> (T, Option<Self>) {
        let mut next = self.clone();
        let outcome = change(&mut next);
        if next == *self {
            return (outcome, None);
        }
        next.version += 1;
        (outcome, Some(next))
    }

    /// Claims a fire: whoever wins has moved the job's time, so that nobody wins it again.
    pub(super) fn claim(&mut self, came: Came<'_>, now: Timestamp) -> Claim {
        let Some(kept) = self.jobs.get_mut(came.job) else { return Claim::Gone };
        let Some(due) = kept.next_run_at else { return Claim::Gone };
        if self.fires.iter().any(|fire| fire == came.fire_id) {
            return Claim::Used;
        }
        if came.fire_at.is_some_and(|fire_at| fire_at != written(due)) {
            return Claim::Old;
        }
        if now.checked_add(CLOCKS_APART).is_ok_and(|soon| due > soon) {
            return Claim::Early;
        }
        kept.take(due, now);
        let (job, run) = (kept.job.clone(), kept.runs);
        self.fires.push_back(came.fire_id.to_owned());
        let surplus = self.fires.len().saturating_sub(FIRES_KEPT_MAX);
        self.fires.drain(..surplus);
        Claim::Won { job, fire_at: due, run }
    }

    /// Takes a job in. One that is there and has the same schedule goes on as it stands, also if it
    /// has ended: who sets its jobs at every start changes nothing.
    pub(super) fn set(&mut self, job: Job, now: Timestamp) -> Result<(), Full> {
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
        let kept = Kept { job, next_run_at, last_run_at: None, runs: 0 };
        self.jobs.insert(kept.job.id.clone(), kept);
        Ok(())
    }

    /// Of jobs that have ended, the one that did so first gives way.
    fn make_room(&mut self) -> Result<(), Full> {
        if self.jobs.len() < JOBS_MAX {
            return Ok(());
        }
        let ended = self.jobs.values().filter(|kept| kept.next_run_at.is_none());
        let oldest = ended.min_by_key(|kept| kept.last_run_at).ok_or(Full)?.job.id.clone();
        self.jobs.remove(&oldest);
        Ok(())
    }

    /// Forgets a job.
    pub(super) fn remove(&mut self, id: &str) {
        self.jobs.remove(id);
    }

    /// Moves on from times that nobody keeps and that are too long ago to be made up for.
    pub(super) fn move_on(&mut self, armed: &BTreeSet<String>, now: Timestamp) {
        for (id, kept) in &mut self.jobs {
            let Some(due) = kept.next_run_at.filter(|_| !armed.contains(id)) else { continue };
            let late = due.checked_add(kept.job.made_up_for()).is_ok_and(|last| last < now);
            if late {
                kept.next_run_at = kept.job.schedule.next(due, now);
            }
        }
    }

    /// Every job that has not ended.
    pub(super) fn live(&self) -> impl Iterator<Item = Due<'_>> {
        self.jobs.values().filter_map(Kept::due)
    }

    /// When a job is due, unless it is gone.
    pub(super) fn due(&self, id: &str) -> Option<Due<'_>> {
        self.jobs.get(id)?.due()
    }
}

impl Kept {
    fn due(&self) -> Option<Due<'_>> {
        let is_last = self.job.repeat.is_some_and(|times| self.runs + 1 >= times.get());
        let recurring = self.job.schedule.recurs() && !is_last;
        Some(Due { job: &self.job, at: self.next_run_at?, recurring })
    }

    fn take(&mut self, due: Timestamp, now: Timestamp) {
        self.runs = self.runs.saturating_add(1);
        self.last_run_at = Some(due);
        let was_last = self.job.repeat.is_some_and(|times| self.runs >= times.get());
        self.next_run_at = if was_last { None } else { self.job.schedule.next(due, now) };
    }
}

/// A time as it goes on the wire. It is compared byte for byte, so there is one way to write it.
pub(super) fn written(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string()
}

#[cfg(test)]
mod tests;
