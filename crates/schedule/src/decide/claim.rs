//! Claims: the step that follows when a job's instant or a fire's next try is due.

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{FIRE_DEADLINE, FIRE_LATE};

use super::{FireRecord, FireStatus, FireStep, JobRecord, JobStatus, later, runs_until};
use crate::fire::{Cause, FireState};
use crate::job::Overlap;

/// The effect of a claim on a fire.
#[derive(Clone, Copy)]
enum Verdict {
    Call,
    Hold { until: Timestamp },
    Pass(Cause),
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
        Verdict::Pass(_) => job.watched(disarmed, now),
        Verdict::Call | Verdict::Hold { .. } => disarmed,
    };
    Some(FireStep { job: status, fire: obey(FireStatus::NEW, verdict, now) })
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
    let status = obey(fire.status(), judge_try(fire, job, running_since, now), now);
    let is_missed = status.state == FireState::Missed;
    let job = if is_missed { job.watched(job.status, now) } else { job.status };
    Some(FireStep { job, fire: status })
}

fn judge_instant(
    job: &JobRecord,
    due_at: Timestamp,
    running_since: Option<Timestamp>,
    now: Timestamp,
) -> Verdict {
    let policies = job.arm.policies;
    if now > later(due_at, policies.catch_up.max(FIRE_LATE)) {
        return Verdict::Pass(Cause::TooLate);
    }
    let run = runs_until(running_since, now).filter(|_| job.heeds_runs());
    match (policies.overlap, run) {
        (Overlap::Skip, Some(_)) => Verdict::Pass(Cause::Overlap),
        (Overlap::BufferOne, Some(until)) => Verdict::Hold { until },
        (Overlap::AllowAll, _) | (Overlap::Skip | Overlap::BufferOne, None) => Verdict::Call,
    }
}

fn judge_try(
    fire: &FireRecord,
    job: &JobRecord,
    running_since: Option<Timestamp>,
    now: Timestamp,
) -> Verdict {
    if job.status.is_cancelled {
        return Verdict::Pass(Cause::Cancelled);
    }
    if job.status.arming > fire.fire.arming {
        return Verdict::Pass(Cause::Superseded);
    }
    if now >= later(fire.fire.began_at, FIRE_DEADLINE) {
        return Verdict::Pass(Cause::GaveUp);
    }
    let is_held = fire.fire.state == FireState::Held;
    let run = runs_until(running_since, now).filter(|_| is_held);
    run.map_or(Verdict::Call, |until| Verdict::Hold { until })
}

fn obey(status: FireStatus, verdict: Verdict, now: Timestamp) -> FireStatus {
    match verdict {
        Verdict::Call => status.called(now),
        Verdict::Hold { until } => status.held(until),
        Verdict::Pass(cause) => status.passed(cause, now),
    }
}
