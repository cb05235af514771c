//! Ends: the result of a try, and the report of a run.

use std::time::Duration;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::FIRE_LATE;

use super::{FireRecord, FireStatus, FireStep, JobRecord, JobStatus, later_by};
use crate::fire::{FireCause, FireEnd, FireState};

/// The outcome of a fire that the agent took, as its report of the run shows.
pub const REPORTED: &str = "reported";

/// A try that failed, and the delay before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The number of the try.
    pub attempt: u32,
    /// The delay.
    pub wait: Duration,
    /// The call was made. Otherwise the try is not counted.
    pub counts: bool,
}

/// The result of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportStep {
    /// The fire has no run that could end now.
    Ignored,
    /// The run is over.
    RunEnded,
    /// The run is over, and by it the desk learns that the agent took the fire.
    TakenAndRunEnded(FireStep),
}

/// Decides on the end of a fire. A failure counts for the newest try only; that the agent took the fire counts for
/// every try. `None`: the fire is over already, or another try has begun.
pub fn end_fire(
    fire: &FireRecord,
    job: &JobRecord,
    attempt: u32,
    end: FireEnd,
    now: Timestamp,
) -> Option<FireStep> {
    if fire.fire.state != FireState::Open {
        return None;
    }
    match end {
        FireEnd::Taken => Some(end_taken(fire, job, now)),
        FireEnd::Missed(cause) => {
            (fire.fire.tries == attempt).then(|| end_missed(fire, job, cause, now))
        }
    }
}

/// Decides on a try that failed. `None`: the fire is over already, or another try has begun.
pub fn retry_fire(fire: &FireRecord, retry: Retry, now: Timestamp) -> Option<FireStatus> {
    let is_open = fire.fire.state == FireState::Open && fire.is_calling;
    (is_open && fire.fire.tries == retry.attempt).then(|| FireStatus {
        is_calling: false,
        next_at: Some(later_by(now, retry.wait)),
        tries: fire.fire.tries.saturating_sub(u32::from(!retry.counts)),
        ..fire.status()
    })
}

/// Decides on the report of a run's end. An agent that reports took the fire, even if its answer was lost.
pub fn report_run(fire: &FireRecord, job: &JobRecord, now: Timestamp) -> ReportStep {
    match fire.fire.state {
        FireState::Open => ReportStep::TakenAndRunEnded(end_taken(fire, job, now)),
        FireState::Fired | FireState::Late if fire.fire.run.is_none() => ReportStep::RunEnded,
        FireState::Fired
        | FireState::Late
        | FireState::Held
        | FireState::Skipped
        | FireState::Missed => ReportStep::Ignored,
    }
}

/// Decides on a fire of a job whose run is over: a fire that waited for that is due now. `None`: it did not wait.
pub fn release_held(fire: FireStatus, now: Timestamp) -> Option<FireStatus> {
    (fire.state == FireState::Held).then_some(FireStatus { next_at: Some(now), ..fire })
}

fn end_taken(fire: &FireRecord, job: &JobRecord, now: Timestamp) -> FireStep {
    let is_late = now > later_by(fire.due_at, FIRE_LATE);
    let state = if is_late { FireState::Late } else { FireState::Fired };
    let status = JobStatus {
        has_fired: true,
        // The agent armed the job again before its answer arrived.
        has_recurred: job.status.has_recurred || job.status.arming > fire.fire.arming,
        ..job.status
    };
    let job = watch_after_end(fire, job, status, now);
    FireStep { job, fire: fire.status().end_as(state, None, now) }
}

fn end_missed(fire: &FireRecord, job: &JobRecord, cause: FireCause, now: Timestamp) -> FireStep {
    let job = watch_after_end(fire, job, job.status, now);
    FireStep { job, fire: fire.status().end_without_call(cause, now) }
}

/// Returns the job's columns after its fire ended. A job that was armed anew or cancelled since is not watched.
fn watch_after_end(
    fire: &FireRecord,
    job: &JobRecord,
    status: JobStatus,
    now: Timestamp,
) -> JobStatus {
    let is_newest = status.arming == fire.fire.arming && !status.is_cancelled;
    if is_newest { job.watch_status(status, now) } else { status }
}
