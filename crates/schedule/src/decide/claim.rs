//! Claims: the step that follows when a job's instant or a fire's next try is due.

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{FIRE_DEADLINE, FIRE_LATE};

use super::{FireRecord, FireStatus, FireStep, JobRecord, JobStatus, later_by, runs_until};
use crate::fire::{FireCause, FireState};
use crate::job::Overlap;

/// The effect of a claim on a fire.
#[derive(Clone, Copy)]
enum ClaimVerdict {
    Call,
    Hold { until: Timestamp },
    Pass(FireCause),
}

/// Decides on the instant of a job: its fire begins, and the job is not armed any more. `running_since` is the newest
/// [`FireRecord::running_since`] of its fires. `None`: the instant is not due.
pub fn claim_instant(
    job: &JobRecord,
    running_since: Option<Timestamp>,
    now: Timestamp,
) -> Option<FireStep> {
    let due_at = job.status.next_at.filter(|at| *at <= now)?;
    let verdict = judge_instant(job, due_at, running_since, now);
    let disarmed = JobStatus { next_at: None, watch_at: None, changed_at: now, ..job.status };
    let status = match verdict {
        ClaimVerdict::Pass(_) => job.watch_status(disarmed, now),
        ClaimVerdict::Call | ClaimVerdict::Hold { .. } => disarmed,
    };
    Some(FireStep { job: status, fire: apply_verdict(FireStatus::NEW, verdict, now) })
}

/// Decides on the next try of a fire. `running_since` is the newest [`FireRecord::running_since`] of its job's fires.
/// `None`: the try is not due.
pub fn claim_try(
    fire: &FireRecord,
    job: &JobRecord,
    running_since: Option<Timestamp>,
    now: Timestamp,
) -> Option<FireStep> {
    fire.next_at.filter(|at| *at <= now)?;
    let status = apply_verdict(fire.status(), judge_try(fire, job, running_since, now), now);
    let is_missed = status.state == FireState::Missed;
    let job = if is_missed { job.watch_status(job.status, now) } else { job.status };
    Some(FireStep { job, fire: status })
}

fn judge_instant(
    job: &JobRecord,
    due_at: Timestamp,
    running_since: Option<Timestamp>,
    now: Timestamp,
) -> ClaimVerdict {
    let policies = job.arm.policies;
    if now > later_by(due_at, policies.catch_up.max(FIRE_LATE)) {
        return ClaimVerdict::Pass(FireCause::TooLate);
    }
    let run = runs_until(running_since, now).filter(|_| job.heeds_runs());
    match (policies.overlap, run) {
        (Overlap::Skip, Some(_)) => ClaimVerdict::Pass(FireCause::Overlap),
        (Overlap::BufferOne, Some(until)) => ClaimVerdict::Hold { until },
        (Overlap::AllowAll, _) | (Overlap::Skip | Overlap::BufferOne, None) => ClaimVerdict::Call,
    }
}

fn judge_try(
    fire: &FireRecord,
    job: &JobRecord,
    running_since: Option<Timestamp>,
    now: Timestamp,
) -> ClaimVerdict {
    if job.status.is_cancelled {
        return ClaimVerdict::Pass(FireCause::Cancelled);
    }
    if job.status.arming > fire.fire.arming {
        return ClaimVerdict::Pass(FireCause::Superseded);
    }
    if now >= later_by(fire.fire.began_at, FIRE_DEADLINE) {
        return ClaimVerdict::Pass(FireCause::GaveUp);
    }
    let is_held = fire.fire.state == FireState::Held;
    let run = runs_until(running_since, now).filter(|_| is_held);
    run.map_or(ClaimVerdict::Call, |until| ClaimVerdict::Hold { until })
}

fn apply_verdict(status: FireStatus, verdict: ClaimVerdict, now: Timestamp) -> FireStatus {
    match verdict {
        ClaimVerdict::Call => status.begin_call(now),
        ClaimVerdict::Hold { until } => status.hold_until(until),
        ClaimVerdict::Pass(cause) => status.end_without_call(cause, now),
    }
}
