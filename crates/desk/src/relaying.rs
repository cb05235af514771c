//! Handles the request of an external scheduler for a due job.
//!
//! The desk's own scheduler fires the job: the request triggers its next look at once and waits for the result.

use std::time::Duration;

use nightdesk_schedule::{ActiveJob, JobId, Scheduler};
use nightdesk_types::limits::{RELAY_LOOKED_EVERY, RELAY_WAIT};
use nightdesk_types::{AgentId, StoreError, TenantScope, Timestamp};
use tokio::time::{Instant, sleep};

/// The state of a job that an external scheduler reports as due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayState {
    /// The job has nothing to deliver, or no longer has.
    Done,
    /// The job is due after this time.
    NotDue(Duration),
    /// The agent has not taken the fire yet.
    Trying,
}

/// Triggers the scheduler and waits a while until the agent has taken the due fire. This node's `now` only determines
/// the retry delay; the store decides whether a job is due.
pub async fn relay(
    schedule: &Scheduler,
    scope: TenantScope,
    agent: AgentId,
    job: &JobId,
    now: Timestamp,
) -> Result<RelayState, StoreError> {
    schedule.claim_soon();
    let by = Instant::now() + RELAY_WAIT;
    loop {
        let armed = schedule.armed_jobs(scope, agent).await?;
        let stands = relay_state(&armed, job, now);
        if stands != RelayState::Trying || Instant::now() >= by {
            return Ok(stands);
        }
        sleep(RELAY_LOOKED_EVERY).await;
    }
}

fn relay_state(armed: &[ActiveJob], job: &JobId, now: Timestamp) -> RelayState {
    let Some(armed) = armed.iter().find(|armed| armed.arm.job == *job) else {
        return RelayState::Done;
    };
    let wait = armed.arm.fire_at.instant().duration_since(now);
    match Duration::try_from(wait) {
        Ok(wait) if !wait.is_zero() => RelayState::NotDue(wait),
        Ok(_) | Err(_) => RelayState::Trying,
    }
}
