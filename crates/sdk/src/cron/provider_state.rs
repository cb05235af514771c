//! The state that provider, door and runs share, and the claim of a fire.

use std::sync::Arc;

use nightdesk_types::Clock;
use tokio::sync::{Mutex, Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::book::{Claim, FireDelivery};
use super::calls::CronClient;
use super::fire::{Fire, Work};
use super::job::BadJob;
use super::limits::JOBS_MAX;
use super::running_jobs::RunningJobs;
use super::store::{Store, StoreError, change};
use super::verifier::FireVerifier;
use crate::desk_client::DeskCallError;

/// The state that provider, door and runs share.
pub(super) struct Cron {
    pub(super) calls: CronClient,
    pub(super) verifier: Arc<dyn FireVerifier>,
    /// The audience of this agent's fires, for logs.
    pub(super) audience: String,
    /// True if the agent fires its own jobs while the desk is unavailable.
    pub(super) falls_back: bool,
    /// The jobs that run in this process, and how often.
    pub(super) running: RunningJobs,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) store: Arc<dyn Store>,
    pub(super) work: Work,
    /// The holder of the lock reconciles the desk with the current book.
    pub(super) arming: Mutex<()>,
    /// Notified when the desk's fires differ from the book.
    pub(super) unsettled: Notify,
    /// A permit for each job that may run at once.
    pub(super) places: Arc<Semaphore>,
    pub(super) tasks: TaskTracker,
    /// Cancelled when the provider is dropped.
    pub(super) over: CancellationToken,
}

/// The result of a fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FireResult {
    /// Its job runs.
    Started,
    /// The fire ran before, or the job was changed since it was armed.
    Lost,
    /// The job does not exist, or it has ended.
    Gone,
    /// Too many jobs run already, the agent is about to exit, or the job is not due by its clock. The desk retries.
    NotNow,
}

/// The changes of a reconciliation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reconciliation {
    /// Number of jobs that were not armed, or for another time.
    pub armed: usize,
    /// Number of armed jobs that do not exist any more.
    pub cancelled: usize,
}

/// The reason that a job is not stored or not armed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CronError {
    /// The job is invalid.
    #[error(transparent)]
    Job(#[from] BadJob),
    /// There are too many jobs.
    #[error("an agent has at most {JOBS_MAX} jobs; remove one")]
    TooManyJobs,
    /// The fire's id is not one of a desk.
    #[error("a fire's id is a UUID")]
    FireId,
    /// The jobs could not be read or stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The jobs are stored, but the desk does not know all of them yet. The call is retried.
    #[error(transparent)]
    Desk(#[from] DeskCallError),
}

impl Cron {
    /// Claims a fire and starts its job.
    pub(super) async fn take_fire(
        self: &Arc<Self>,
        came: FireDelivery<'_>,
    ) -> Result<FireResult, StoreError> {
        let cron = Arc::clone(self);
        let (job, fire_id) = (came.job.to_owned(), came.fire_id.to_owned());
        let fire_at = came.fire_at.map(str::to_owned);
        // The claim runs in its own task: a caller that hangs up must not separate a claim from its run.
        let taken = self.tasks.spawn(async move {
            let fire_at = fire_at.as_deref();
            cron.take_to_the_end(FireDelivery { job: &job, fire_at, fire_id: &fire_id }).await
        });
        taken.await.map_err(|error| StoreError::new("a claim did not end", Some(error.into())))?
    }

    async fn take_to_the_end(
        self: &Arc<Self>,
        came: FireDelivery<'_>,
    ) -> Result<FireResult, StoreError> {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return Ok(FireResult::NotNow);
        };
        let now = self.clock.now();
        match change(&*self.store, |book| book.claim(came, now)).await? {
            Claim::Won { job, fire_at, run } => {
                let (fire_id, is_local) = (came.fire_id.to_owned(), came.is_local());
                let fire = Fire { job, fire_at, fire_id, run, is_local };
                let run = Arc::clone(self).run(fire);
                self.spawn(async move {
                    run.await;
                    drop(place);
                });
                Ok(FireResult::Started)
            }
            Claim::Old => {
                // The desk has armed another time than the book.
                self.unsettled.notify_one();
                Ok(FireResult::Lost)
            }
            Claim::Used => Ok(FireResult::Lost),
            Claim::Early => Ok(FireResult::NotNow),
            Claim::Gone => Ok(FireResult::Gone),
        }
    }

    /// Runs a task until it ends or the provider is dropped.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let over = self.over.clone();
        self.tasks.spawn(async move { over.run_until_cancelled(task).await });
    }
}
