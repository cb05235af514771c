//! The schedule: arming, cancelling and reporting of jobs.

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_inbox::batch::BatchQueue;
use nightdesk_types::limits::{FIRE_SWEEP_EVERY, FIRES_AT_ONCE_MAX};
use nightdesk_types::{AgentId, Clock, FireId, Node, StoreError, TenantScope, Timestamp};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::callback::FireCaller;
use crate::job::{ArmRequest, JobId, Target};
use crate::metrics::Metrics;
use crate::store::{ActiveJob, CancelOutcome, RunReport, Store};

mod claim_loop;
mod ending_writer;
mod fire_delivery;
#[cfg(test)]
mod tests;

use ending_writer::EndingBatch;

/// The clock of the store that holds the jobs.
#[async_trait]
pub trait StoreTime: Send + Sync {
    /// Returns the store's time.
    async fn now(&self) -> Result<Timestamp, StoreError>;
}

/// The clocks of a schedule.
#[derive(Clone)]
pub struct ScheduleClocks {
    /// The store's clock, which alone decides when a job is due.
    pub store: Arc<dyn StoreTime>,
    /// This node's clock, which may be wrong. It affects only the time of the next claim.
    pub wall: Arc<dyn Clock>,
}

/// The store's time as of the last read, advanced by the time since then.
#[derive(Clone, Copy, Debug)]
struct StoreNow {
    read: Timestamp,
    read_at: Instant,
}

impl StoreNow {
    fn get(self) -> Timestamp {
        self.read.checked_add(self.read_at.elapsed()).unwrap_or(self.read)
    }
}

/// The reason why a job cannot be armed.
#[derive(Debug, thiserror::Error)]
pub enum ArmError {
    /// The callback is refused. The text says what to correct.
    #[error("{0}")]
    Callback(String),
    /// The store failed, or the tenant has reached its quota of jobs.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fires due jobs.
pub struct Scheduler {
    store: Arc<dyn Store>,
    endings: BatchQueue<EndingBatch>,
    by_callback: Arc<dyn FireCaller>,
    clocks: ScheduleClocks,
    node: Node,
    at_once: Arc<Semaphore>,
    /// Wakes the loop that claims due jobs.
    rung: Notify,
    metrics: Metrics,
}

nightdesk_types::opaque_debug!(Scheduler);

impl Scheduler {
    /// Creates the schedule of a node for its current epoch, and starts the worker that writes the ends of fires. The
    /// worker ends when the schedule is dropped.
    pub fn new(
        store: Arc<dyn Store>,
        by_callback: Arc<dyn FireCaller>,
        clocks: ScheduleClocks,
        node: Node,
        tasks: &TaskTracker,
    ) -> Self {
        let endings = EndingBatch(Arc::clone(&store));
        Self {
            endings: BatchQueue::start(endings, "end fires", tasks),
            store,
            by_callback,
            clocks,
            node,
            at_once: Arc::new(Semaphore::new(FIRES_AT_ONCE_MAX)),
            rung: Notify::new(),
            metrics: Metrics::default(),
        }
    }

    /// Returns the metrics.
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    async fn now(&self) -> Result<StoreNow, StoreError> {
        let read = self.clocks.store.now().await?;
        Ok(StoreNow { read, read_at: Instant::now() })
    }

    /// Makes this node claim due jobs at once.
    pub fn claim_soon(&self) {
        self.rung.notify_one();
    }

    /// Returns the callback in the form in which it is called, or the reason for a refusal.
    pub fn may_call(&self, callback: &str) -> Result<String, String> {
        self.by_callback.may_call(callback)
    }

    /// Arms a job if its callback is allowed.
    pub async fn arm(
        &self,
        scope: TenantScope,
        agent: AgentId,
        arm: &ArmRequest,
    ) -> Result<ActiveJob, ArmError> {
        let mut arm = arm.clone();
        if let Target::Callback(callback) = &mut arm.to {
            *callback = self.may_call(callback).map_err(ArmError::Callback)?;
        }
        let due_at = arm.fire_at.instant();
        let armed = self.store.arm(scope, agent, &arm).await?;
        self.metrics.count_armed();
        // The periodic claim finds jobs that are due later. If this node's clock is wrong, the job waits at most for
        // that claim.
        let soon = self.clocks.wall.now().checked_add(FIRE_SWEEP_EVERY);
        if soon.is_ok_and(|soon| due_at <= soon) {
            self.claim_soon();
        }
        Ok(armed)
    }

    /// Cancels a job, or reports that it is too late.
    pub async fn cancel(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<CancelOutcome, StoreError> {
        let cancelled = self.store.cancel(scope, agent, job).await?;
        self.metrics.count_cancel(cancelled);
        Ok(cancelled)
    }

    /// Returns the armed jobs of an agent, by name.
    pub async fn armed_jobs(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ActiveJob>, StoreError> {
        self.store.armed_jobs(scope, agent).await
    }

    /// Records the end of a run. A fire that waited for it is claimed at once.
    pub async fn report(
        &self,
        scope: TenantScope,
        agent: AgentId,
        fire: FireId,
        report: &RunReport,
    ) -> Result<bool, StoreError> {
        let noted = self.store.report(scope, agent, fire, report).await?;
        self.claim_soon();
        Ok(noted)
    }
}
