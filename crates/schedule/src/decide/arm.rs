//! Arming and cancelling: the job's next instant, and the end of fires that wait.

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_types::{Arming, FireId, ScheduleId, Timestamp};

use super::{FireRecord, FireStatus, JobRecord, JobStatus, later_by};
use crate::fire::FireCause;
use crate::job::ArmRequest;
use crate::store::CancelOutcome;

/// A fire that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFire {
    /// Its id.
    pub id: FireId,
    /// The arming it is of.
    pub arming: Arming,
    /// Its columns.
    pub status: FireStatus,
}

/// The result of a request that changes the arming of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmPlan {
    /// The job's row from now on.
    pub job: JobRecord,
    /// One more job is armed than before, so the quotas must allow it.
    pub takes_quota: bool,
    /// The fires that are over with it.
    pub superseded: Vec<OpenFire>,
}

/// The result of a cancel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelPlan {
    /// The caller's answer.
    pub cancelled: CancelOutcome,
    /// The job's columns from now on.
    pub job: JobStatus,
    /// The fires that are over with it.
    pub ended: Vec<OpenFire>,
}

impl From<&FireRecord> for OpenFire {
    fn from(record: &FireRecord) -> Self {
        Self { id: record.fire.id, arming: record.fire.arming, status: record.status() }
    }
}

impl OpenFire {
    /// Returns true if a node calls the agent at this moment.
    fn is_under_way(&self, now: Timestamp) -> bool {
        self.status.is_calling && self.status.next_at.is_some_and(|at| at > now)
    }
}

/// Decides on a request to arm a job. Returns `None` if nothing changes: the job is already armed so, or a fire of this
/// instant is open.
pub fn arm_job(
    job: &JobRecord,
    open: &[OpenFire],
    arm: &ArmRequest,
    now: Timestamp,
) -> Option<ArmPlan> {
    if is_armed_so(job, open, arm) {
        return None;
    }
    let arming = job.status.arming.next();
    let due_at = due_at(job.id, arming, arm);
    let status = JobStatus {
        arming,
        due_at,
        next_at: Some(due_at.max(now)),
        has_recurred: job.status.has_recurred || job.status.has_fired,
        has_fired: job.status.has_fired,
        is_cancelled: false,
        watch_at: None,
        flagged_at: None,
        changed_at: now,
    };
    Some(ArmPlan {
        job: JobRecord { id: job.id, arm: arm.clone(), status },
        takes_quota: job.status.next_at.is_none(),
        superseded: end_waiting(open, FireCause::Superseded, now),
    })
}

/// Decides on a cancel. A call that is under way goes on, and is not repeated should it fail.
pub fn cancel_job(job: &JobRecord, open: &[OpenFire], now: Timestamp) -> CancelPlan {
    let ended = end_waiting(open, FireCause::Cancelled, now);
    let cancelled = if ended.len() < open.len() {
        CancelOutcome::UnderWay
    } else if job.status.next_at.is_some() || !ended.is_empty() {
        CancelOutcome::Cancelled
    } else {
        CancelOutcome::Unknown
    };
    let status = JobStatus {
        next_at: None,
        watch_at: None,
        flagged_at: None,
        is_cancelled: true,
        changed_at: now,
        ..job.status
    };
    CancelPlan { cancelled, job: status, ended }
}

fn is_armed_so(job: &JobRecord, open: &[OpenFire], arm: &ArmRequest) -> bool {
    // Agents compare the text of instants.
    let is_same_instant = job.arm.fire_at.as_str() == arm.fire_at.as_str();
    if job.status.next_at.is_some() {
        return is_same_instant
            && job.arm == ArmRequest { fire_at: job.arm.fire_at.clone(), ..arm.clone() };
    }
    let is_told = open.iter().any(|fire| fire.arming == job.status.arming);
    is_same_instant && !job.status.is_cancelled && is_told
}

/// Ends the fires that wait: for their next try, for a run to end, or for a node that died with its call.
fn end_waiting(open: &[OpenFire], cause: FireCause, now: Timestamp) -> Vec<OpenFire> {
    let waiting = open.iter().filter(|fire| !fire.is_under_way(now));
    waiting
        .map(|fire| OpenFire { status: fire.status.end_without_call(cause, now), ..*fire })
        .collect()
}

/// Returns the instant with its jitter. Instants before 1970 count as 1970, because stores hold no older times.
fn due_at(id: ScheduleId, arming: Arming, arm: &ArmRequest) -> Timestamp {
    let instant = arm.fire_at.instant().max(Timestamp::UNIX_EPOCH);
    later_by(instant, jitter(id, arming, arm.policies.jitter))
}

/// Returns the delay of one arming, at most `jitter_max`. Repeated calls return the same delay.
fn jitter(id: ScheduleId, arming: Arming, jitter_max: Duration) -> Duration {
    let seed = [id.uuid().as_bytes().as_slice(), &arming.get().to_be_bytes()].concat();
    let hash = digest(&SHA256, &seed);
    let spread = hash.as_ref().iter().take(8);
    let number = spread.fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    let most_ms = u64::try_from(jitter_max.as_millis()).unwrap_or(u64::MAX - 1);
    Duration::from_millis(number % most_ms.saturating_add(1))
}
