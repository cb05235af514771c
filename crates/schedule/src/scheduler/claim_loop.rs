//! The loop that claims due jobs.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_types::StoreError;
use nightdesk_types::limits::{
    FIRE_LOOK_REST, FIRE_SWEEP_EVERY, FIRES_CLAIMED_MAX, UNARMED_SWEEP_EVERY,
};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::fire_delivery::FireCallPermit;
use super::{Scheduler, StoreNow};
use crate::fire::{Fire, FireClaim};
use crate::outcome::InboxDeliverer;
use crate::store::{ClaimBatch, UnarmedJob};

impl Scheduler {
    /// Fires due jobs until this node stops. Each call runs to its end in its own task.
    pub async fn run(
        self: Arc<Self>,
        deliver: Arc<dyn InboxDeliverer>,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) {
        let tell_due = async {
            while !stop.is_cancelled() {
                let looked = self.claim_due(&deliver, &tasks).await;
                let wait =
                    looked.unwrap_or_else(|error| log_failed_claim("claim due fires", &error));
                stop.run_until_cancelled(self.wait_for_next_claim(wait)).await;
            }
        };
        let look_for_unarmed = async {
            while !stop.is_cancelled() {
                self.flag_unarmed().await;
                stop.run_until_cancelled(sleep(UNARMED_SWEEP_EVERY)).await;
            }
        };
        tokio::join!(tell_due, look_for_unarmed);
    }

    /// Waits for `wait` or until a notification, but always at least [`FIRE_LOOK_REST`].
    async fn wait_for_next_claim(&self, wait: Duration) {
        sleep(FIRE_LOOK_REST).await;
        // In both cases the next claim follows.
        drop(timeout(wait.saturating_sub(FIRE_LOOK_REST), self.rung.notified()).await);
    }

    /// Claims due fires, up to the free room. Returns the time until the next claim.
    async fn claim_due(
        self: &Arc<Self>,
        deliver: &Arc<dyn InboxDeliverer>,
        tasks: &TaskTracker,
    ) -> Result<Duration, StoreError> {
        let rooms: Vec<_> = (0..FIRES_CLAIMED_MAX).map_while(|_| self.take_permit()).collect();
        if rooms.is_empty() {
            // A call that ends and makes room notifies this loop.
            return Ok(FIRE_SWEEP_EVERY);
        }
        let ClaimBatch { fires, passed, next_in } =
            self.store.claim(&self.node, rooms.len()).await?;
        for fire in &passed {
            self.log_passed(fire);
        }
        let wait = if fires.len() < rooms.len() { next_in } else { Some(Duration::ZERO) };
        if !fires.is_empty() {
            let now = self.now().await?;
            for (fire, room) in fires.into_iter().zip(rooms) {
                let (schedule, deliver) = (Arc::clone(self), Arc::clone(deliver));
                tasks.spawn(async move { schedule.run_fire(&fire, room, now, &*deliver).await });
            }
        }
        Ok(wait.map_or(FIRE_SWEEP_EVERY, |wait| wait.min(FIRE_SWEEP_EVERY)))
    }

    async fn run_fire(
        &self,
        fire: &FireClaim,
        room: FireCallPermit,
        now: StoreNow,
        deliver: &dyn InboxDeliverer,
    ) {
        let agent = fire.agent;
        if let Err(error) = self.deliver_fire(fire, &room, now, deliver).await {
            // The fire is due again when the claim expires.
            tracing::warn!(
                agent.id = %agent,
                fire.id = %fire.fire,
                error = &error as &dyn Error,
                "could not store the outcome of a fire of agent {agent}"
            );
        }
        let was_full = self.at_once.available_permits() == 0;
        drop(room);
        if was_full {
            self.claim_soon();
        }
    }

    fn log_passed(&self, fire: &Fire) {
        self.metrics.count_passed(fire);
        let (agent, cause) = (fire.agent, fire.cause.map_or("unknown", |cause| cause.slug()));
        tracing::warn!(
            agent.id = %agent,
            fire.id = %fire.id,
            "a fire of agent {agent} was not delivered: {cause}"
        );
    }

    /// Flags recurring jobs that their agents did not arm again.
    async fn flag_unarmed(&self) {
        let unarmed = match self.store.flag_unarmed().await {
            Ok(unarmed) => unarmed,
            Err(error) => {
                log_failed_claim("find jobs that are not armed", &error);
                return;
            }
        };
        self.metrics.count_unarmed(unarmed.len());
        for UnarmedJob { agent, .. } in unarmed {
            tracing::warn!(agent.id = %agent, "agent {agent} did not arm a recurring job again");
        }
    }
}

/// Logs a failed claim. Returns the time until the next one.
fn log_failed_claim(what: &'static str, error: &(dyn Error + 'static)) -> Duration {
    tracing::warn!(error, "the schedule could not {what}");
    FIRE_SWEEP_EVERY
}
