//! Relaying: another scheduler says that a job is due.
//!
//! It is told by the desk's own scheduler, on its one road: whoever asks has it look at once, and waits for
//! what comes of it.

use std::time::Duration;

use nightdesk_schedule::{Armed, JobId};
use nightdesk_types::limits::{RELAY_LOOKED_EVERY, RELAY_WAIT};
use nightdesk_types::{AgentId, StoreError, TenantScope, Timestamp};
use tokio::time::{Instant, sleep};

use crate::Desk;

/// How it stands with a job that is said to be due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relayed {
    /// There is nothing to tell the agent, or not any more.
    Done,
    /// It is due after so long.
    NotDue(Duration),
    /// The agent did not take it yet.
    Trying,
}

/// Has the scheduler look, and waits a while until the agent took what is due. What this node takes for
/// `now` only says when to ask again: whether a job is due, the store says.
pub async fn relay(
    desk: &Desk,
    (scope, agent): (TenantScope, AgentId),
    job: &JobId,
    now: Timestamp,
) -> Result<Relayed, StoreError> {
    desk.schedule.look();
    let by = Instant::now() + RELAY_WAIT;
    loop {
        let armed = desk.schedule.armed(scope, agent).await?;
        let stands = stands(&armed, job, now);
        if stands != Relayed::Trying || Instant::now() >= by {
            return Ok(stands);
        }
        sleep(RELAY_LOOKED_EVERY).await;
    }
}

fn stands(armed: &[Armed], job: &JobId, now: Timestamp) -> Relayed {
    let Some(armed) = armed.iter().find(|armed| armed.arm.job == *job) else {
        return Relayed::Done;
    };
    let wait = armed.arm.fire_at.instant().duration_since(now);
    match Duration::try_from(wait) {
        Ok(wait) if !wait.is_zero() => Relayed::NotDue(wait),
        Ok(_) | Err(_) => Relayed::Trying,
    }
}
