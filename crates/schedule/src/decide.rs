//! The rules of firing, as pure functions from rows, facts and the store's time to the columns to write.
//!
//! A store locks the rows, reads the facts, calls one of these functions and writes its result, all in one
//! transaction. PostgreSQL and memory share them, so the simulation runs the rules that production runs.

use std::time::Duration;

use nightdesk_types::limits::{FIRE_CALL_HELD, RUN_MAX, UNARMED_AFTER};
use nightdesk_types::{AgentId, Arming, FireId, ScheduleId, Timestamp};

use crate::fire::{Fire, FireCause, FireState};
use crate::job::{ArmRequest, Overlap};
use crate::store::ActiveJob;

mod arm;
mod claim;
mod end;
#[cfg(test)]
mod tests;

pub use arm::{ArmPlan, CancelPlan, OpenFire, arm_job, cancel_job};
pub use claim::{claim_instant, claim_try};
pub use end::{REPORTED, ReportStep, Retry, end_fire, release_held, report_run, retry_fire};

/// A job's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRecord {
    /// The id, the same over every arming.
    pub id: ScheduleId,
    /// The request that armed it last, as the agent made it.
    pub arm: ArmRequest,
    /// The columns that change between two armings.
    pub status: JobStatus,
}

/// The columns of a job that decisions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobStatus {
    /// The number of the newest arming. A fire of an older one is not delivered any more.
    pub arming: Arming,
    /// The instant with its jitter.
    pub due_at: Timestamp,
    /// The time of the next claim; `None`: the job is not armed.
    pub next_at: Option<Timestamp>,
    /// The agent armed it again after a fire, so it counts as recurring.
    pub has_recurred: bool,
    /// The agent took a fire of it.
    pub has_fired: bool,
    /// The agent or the operator cancelled it.
    pub is_cancelled: bool,
    /// The time by which the agent should have armed it again.
    pub watch_at: Option<Timestamp>,
    /// The time at which it was found unarmed.
    pub flagged_at: Option<Timestamp>,
    /// The time of the last arming, claim or cancel.
    pub changed_at: Timestamp,
}

/// A fire's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FireRecord {
    /// The columns that an operator sees.
    pub fire: Fire,
    /// The instant with its jitter.
    pub due_at: Timestamp,
    /// A node calls the agent, until `next_at`.
    pub is_calling: bool,
    /// The time of the next claim; `None`: the fire is over.
    pub next_at: Option<Timestamp>,
    /// The agent reports the end of each run.
    pub reports: bool,
}

/// The columns of a fire that decisions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FireStatus {
    /// The state.
    pub state: FireState,
    /// The reason why the agent did not take it.
    pub cause: Option<FireCause>,
    /// The number of tries.
    pub tries: u32,
    /// A node calls the agent, until `next_at`.
    pub is_calling: bool,
    /// The time of the next claim; `None`: the fire is over.
    pub next_at: Option<Timestamp>,
    /// The time at which it ended.
    pub ended_at: Option<Timestamp>,
}

/// A change of a fire and of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FireStep {
    /// The job's columns from now on.
    pub job: JobStatus,
    /// The fire's columns from now on.
    pub fire: FireStatus,
}

impl JobRecord {
    /// Returns a job that was never armed.
    pub const fn new(id: ScheduleId, arm: ArmRequest, now: Timestamp) -> Self {
        let status = JobStatus {
            arming: Arming::new(0),
            due_at: now,
            next_at: None,
            has_recurred: false,
            has_fired: false,
            is_cancelled: false,
            watch_at: None,
            flagged_at: None,
            changed_at: now,
        };
        Self { id, arm, status }
    }

    /// Returns the job as its agent sees it.
    pub fn to_active_job(&self) -> ActiveJob {
        let arm = ArmRequest { recurring: self.is_recurring(), ..self.arm.clone() };
        ActiveJob { id: self.id, arming: self.status.arming, arm }
    }

    /// Returns the fire of the instant that came, before it is decided on.
    pub fn begin_fire(&self, agent: AgentId, id: FireId, now: Timestamp) -> FireRecord {
        let FireStatus { state, cause, tries, is_calling, next_at, ended_at } = FireStatus::NEW;
        let fire = Fire {
            id,
            agent,
            job: self.arm.job.clone(),
            arming: self.status.arming,
            fire_at: self.arm.fire_at.clone(),
            state,
            cause,
            tries,
            outcome: None,
            began_at: now,
            ended_at,
            run: None,
        };
        let (due_at, reports) = (self.status.due_at, self.arm.reports);
        FireRecord { fire, due_at, is_calling, next_at, reports }
    }

    /// Returns true if a run that is not over delays or skips the next instant of this job.
    pub fn heeds_runs(&self) -> bool {
        self.arm.reports && self.arm.policies.overlap != Overlap::AllowAll
    }

    const fn is_recurring(&self) -> bool {
        self.arm.recurring || self.status.has_recurred
    }

    /// Returns the job's columns, with the time by which a recurring job that is not armed should be armed again.
    fn watch_status(&self, status: JobStatus, now: Timestamp) -> JobStatus {
        if status.next_at.is_none() && self.is_recurring() {
            JobStatus { watch_at: Some(later_by(now, UNARMED_AFTER)), ..status }
        } else {
            status
        }
    }
}

impl FireRecord {
    /// Returns the columns that decisions change.
    pub const fn status(&self) -> FireStatus {
        FireStatus {
            state: self.fire.state,
            cause: self.fire.cause,
            tries: self.fire.tries,
            is_calling: self.is_calling,
            next_at: self.next_at,
            ended_at: self.fire.ended_at,
        }
    }

    /// Replaces the columns that decisions change.
    pub const fn set_status(&mut self, status: FireStatus) {
        let FireStatus { state, cause, tries, is_calling, next_at, ended_at } = status;
        (self.fire.state, self.fire.cause, self.fire.tries) = (state, cause, tries);
        (self.is_calling, self.next_at, self.fire.ended_at) = (is_calling, next_at, ended_at);
    }

    /// Returns true if the agent took the fire.
    pub const fn is_taken(&self) -> bool {
        matches!(self.fire.state, FireState::Fired | FireState::Late)
    }

    /// Returns the time since which its run is under way, for a fire whose agent reports and has not yet.
    pub fn running_since(&self) -> Option<Timestamp> {
        let is_running = self.reports && self.is_taken() && self.fire.run.is_none();
        self.fire.ended_at.filter(|_| is_running)
    }
}

impl FireStatus {
    /// A fire before its first claim is decided.
    const NEW: Self = Self {
        state: FireState::Open,
        cause: None,
        tries: 0,
        is_calling: false,
        next_at: None,
        ended_at: None,
    };

    /// Returns the columns of a fire for which a node calls the agent from now on.
    fn begin_call(self, now: Timestamp) -> Self {
        Self {
            state: FireState::Open,
            tries: self.tries + 1,
            is_calling: true,
            next_at: Some(later_by(now, FIRE_CALL_HELD)),
            ..self
        }
    }

    /// Returns the columns of a fire that waits for the end of a run.
    const fn hold_until(self, until: Timestamp) -> Self {
        Self { state: FireState::Held, is_calling: false, next_at: Some(until), ..self }
    }

    /// Returns the columns of a fire that is over.
    const fn end_as(self, state: FireState, cause: Option<FireCause>, now: Timestamp) -> Self {
        Self { state, cause, is_calling: false, next_at: None, ended_at: Some(now), ..self }
    }

    /// Returns the columns of a fire that is over because the agent must not take it any more.
    const fn end_without_call(self, cause: FireCause, now: Timestamp) -> Self {
        self.end_as(cause.state(), Some(cause), now)
    }
}

/// Returns the time until which a run counts as under way. A run without a reported end is over after [`RUN_MAX`].
fn runs_until(running_since: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    running_since.map(|since| later_by(since, RUN_MAX)).filter(|until| *until > now)
}

fn later_by(at: Timestamp, span: Duration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}
