//! The stop itself: what agents ask of it.

use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_types::limits::{FIRE_SWEEP_EVERY, FIRES_AT_ONCE_MAX};
use nightdesk_types::planted::{Bug, is_planted};
use nightdesk_types::{AgentId, Clock, FireId, Node, StoreError, TenantScope, Timestamp};
use tokio::sync::{Notify, Semaphore};

use crate::by_callback::ByCallback;
use crate::job::{Arm, JobId, Target};
use crate::metrics::Metrics;
use crate::store::{Armed, Cancelled, Report, Store};

mod rounds;
mod telling;
#[cfg(test)]
mod tests;

/// Tells what time it is where jobs are kept.
#[async_trait]
pub trait StoreTime: Send + Sync {
    /// Now, by the store's clock.
    async fn now(&self) -> Result<Timestamp, StoreError>;
}

/// By what a schedule tells time.
#[derive(Clone)]
pub struct Clocks {
    /// The store's clock, which alone says when something is due.
    pub store: Arc<dyn StoreTime>,
    /// This node's, which may be wrong. Nothing but the time of a look depends on it.
    pub wall: Arc<dyn Clock>,
}

/// Why a job cannot be armed.
#[derive(Debug, thiserror::Error)]
pub enum ArmError {
    /// Its callback would not be called. The words say what to mend.
    #[error("{0}")]
    Callback(String),
    /// The store could not, or the tenant has all the jobs that it may have.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Tells agents that their jobs are due.
pub struct Schedule {
    store: Arc<dyn Store>,
    by_callback: Arc<dyn ByCallback>,
    clocks: Clocks,
    node: Node,
    at_once: Arc<Semaphore>,
    /// Whoever looks for what is due is rung out of its sleep.
    rung: Notify,
    /// Spreads fires and times; the same in every life, so that a run can be played again.
    spread: BuildHasherDefault<DefaultHasher>,
    metrics: Metrics,
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Schedule")
    }
}

impl Schedule {
    /// The schedule of a node, in this life of it.
    pub fn new(
        store: Arc<dyn Store>,
        by_callback: Arc<dyn ByCallback>,
        clocks: Clocks,
        node: Node,
    ) -> Self {
        Self {
            store,
            by_callback,
            clocks,
            node,
            at_once: Arc::new(Semaphore::new(FIRES_AT_ONCE_MAX)),
            rung: Notify::new(),
            spread: BuildHasherDefault::default(),
            metrics: Metrics::default(),
        }
    }

    /// What it counts.
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Has this node look at once for what is due.
    pub fn look(&self) {
        self.rung.notify_one();
    }

    /// A callback as an agent would be told there, or why it would not be.
    pub fn may_call(&self, callback: &str) -> Result<String, String> {
        self.by_callback.may_call(callback)
    }

    /// Arms a job, if its agent could be told of it.
    pub async fn arm(
        &self,
        scope: TenantScope,
        agent: AgentId,
        arm: &Arm,
    ) -> Result<Armed, ArmError> {
        let mut arm = arm.clone();
        if let Target::Callback(callback) = &mut arm.to {
            *callback = self.may_call(callback).map_err(ArmError::Callback)?;
        }
        let due_at = arm.fire_at.instant();
        if is_planted(Bug::DueByWallClock) {
            let (ours, theirs) = (self.clocks.wall.now(), self.clocks.store.now().await?);
            arm.fire_at = arm.fire_at.moved(ours, theirs);
        }
        let armed = self.store.arm(scope, agent, &arm).await?;
        self.metrics.armed();
        // What is due later is met by the next look anyway. If our clock is wrong, that costs no more
        // than to wait for it.
        let soon = self.clocks.wall.now().checked_add(FIRE_SWEEP_EVERY);
        if soon.is_ok_and(|soon| due_at <= soon) {
            self.look();
        }
        Ok(armed)
    }

    /// Cancels a job, or says that it is too late.
    pub async fn cancel(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<Cancelled, StoreError> {
        let cancelled = self.store.cancel(scope, agent, job).await?;
        self.metrics.cancelled(cancelled);
        Ok(cancelled)
    }

    /// What is armed for an agent, by the job's name.
    pub async fn armed(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<Armed>, StoreError> {
        self.store.armed(scope, agent).await
    }

    /// Notes the end of a run. What waited for it is told at once.
    pub async fn report(
        &self,
        (scope, agent): (TenantScope, AgentId),
        fire: FireId,
        report: &Report,
    ) -> Result<bool, StoreError> {
        let noted = self.store.report((scope, agent), fire, report).await?;
        self.look();
        Ok(noted)
    }
}
