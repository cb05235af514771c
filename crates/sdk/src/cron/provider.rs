//! The provider: stores an agent's jobs at its desk, and runs them when they are due.

use std::fmt::Display;
use std::sync::Arc;

use nightdesk_types::{Clock, SystemClock};
use tokio::sync::{Mutex, Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::book::FireDelivery;
use super::calls::CronClient;
use super::fire::{Fire, Work, work};
use super::fire_route;
use super::job::Job;
use super::keys::Keys;
use super::limits::RUNS_MAX;
use super::provider_state::{Cron, CronError, FireResult, Reconciliation};
use super::running_jobs::RunningJobs;
use super::settings::{CheckedCronSettings, CronSettings};
use super::store::{Store, change};
use super::token::ExpectedFireClaims;
use super::verifier::DeskVerifier;
use crate::desk_client::{BadDeskSettings, DeskClient, TokenSource};

/// Stores an agent's jobs at its desk, and runs them when they are due. Dropping it drops its running jobs;
/// [`rest`](Self::drain) waits for them.
#[must_use = "jobs are run by their provider"]
pub struct Provider {
    pub(super) cron: Arc<Cron>,
}

impl Provider {
    /// Begins with the jobs in the store: they are sent to the desk in the background. `run` is called for every fire,
    /// in its own task.
    ///
    /// # Errors
    ///
    /// The settings are invalid.
    pub fn start<F, Run, E>(
        settings: CronSettings,
        store: impl Store + 'static,
        run: F,
    ) -> Result<Self, BadDeskSettings>
    where
        F: Fn(Fire) -> Run + Send + Sync + 'static,
        Run: Future<Output = Result<(), E>> + Send + 'static,
        E: Display,
    {
        let clock = Arc::new(SystemClock::start());
        Ok(Self::start_with(settings.check()?, Arc::new(store), clock, work(run)))
    }

    pub(super) fn start_with(
        settings: CheckedCronSettings,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        work: Work,
    ) -> Self {
        let CheckedCronSettings {
            desk,
            issuer,
            audience,
            callback,
            login,
            client,
            verifier,
            falls_back,
        } = settings;
        let pass = TokenSource::new(login, &desk, Arc::clone(&clock));
        let verifier = verifier.unwrap_or_else(|| {
            let wanted = ExpectedFireClaims { issuer, audience: audience.clone() };
            let keys = Keys::new(client.clone(), &desk);
            Arc::new(DeskVerifier { keys, wanted, clock: Arc::clone(&clock) })
        });
        let cron = Arc::new(Cron {
            verifier,
            audience,
            falls_back,
            running: RunningJobs::default(),
            calls: CronClient::new(DeskClient::new(client, desk, pass), callback),
            clock,
            store,
            work,
            arming: Mutex::default(),
            unsettled: Notify::new(),
            places: Arc::new(Semaphore::new(RUNS_MAX)),
            tasks: TaskTracker::new(),
            over: CancellationToken::new(),
        });
        cron.unsettled.notify_one();
        cron.spawn(Arc::clone(&cron).keep_settled());
        if cron.falls_back {
            cron.spawn(Arc::clone(&cron).keep_ticking());
        }
        Self { cron }
    }

    /// Adds a job, and arms it at the desk. An existing job with the same schedule continues unchanged, even if it has
    /// ended, so an agent may set its jobs at every start.
    ///
    /// # Errors
    ///
    /// After [`CronError::Desk`] the job is stored, and the call to the desk is retried automatically.
    pub async fn set(&self, job: Job) -> Result<(), CronError> {
        job.check()?;
        let now = self.cron.clock.now();
        let set = change(&*self.cron.store, |book| book.set(job.clone(), now)).await?;
        set.map_err(|_| CronError::TooManyJobs)?;
        self.reconcile().await.map(drop)
    }

    /// Removes a job, and cancels it at the desk. An unknown job is no error.
    ///
    /// # Errors
    ///
    /// After [`CronError::Desk`] the job is removed, and the call to the desk is retried automatically.
    pub async fn remove(&self, id: &str) -> Result<(), CronError> {
        change(&*self.cron.store, |book| book.remove(id)).await?;
        self.reconcile().await.map(drop)
    }

    /// Returns every job that has not ended, with its next time.
    ///
    /// # Errors
    ///
    /// The jobs could not be read.
    pub async fn jobs(&self) -> Result<Vec<(Job, nightdesk_types::Timestamp)>, CronError> {
        let book = self.cron.store.read().await?;
        Ok(book.live_jobs().map(|due| (due.job.clone(), due.at)).collect())
    }

    /// Compares the desk's armed fires with the jobs, and corrects them. This happens automatically at the start, after
    /// every change and after a failed call.
    ///
    /// # Errors
    ///
    /// The jobs could not be read, or a call to the desk failed; it is retried automatically.
    pub async fn reconcile(&self) -> Result<Reconciliation, CronError> {
        self.cron.reconcile().await.inspect_err(|_| self.cron.unsettled.notify_one())
    }

    /// Takes a fire that did not arrive through the [door](Self::router), such as one from the agent's inbox.
    ///
    /// # Errors
    ///
    /// The fire's id is not one of a desk, or the jobs could not be read or stored: retry later.
    pub async fn take_fire(
        &self,
        job: &str,
        fire_at: &str,
        fire_id: &str,
    ) -> Result<FireResult, CronError> {
        let id = Uuid::try_parse(fire_id).map_err(|_| CronError::FireId)?.to_string();
        let came = FireDelivery { job, fire_at: Some(fire_at), fire_id: &id };
        Ok(self.cron.take_fire(came).await?)
    }

    /// Returns the router for the desk's fires: `POST /api/cron/fire`. Serve it at the URL in the settings.
    pub fn router(&self) -> axum::Router {
        fire_route::router(Arc::clone(&self.cron))
    }

    /// Takes no more fires, waits for the running jobs, and reconciles the desk. After that the process may exit.
    ///
    /// # Errors
    ///
    /// The runs have ended, but a call to the desk failed.
    pub async fn drain(self) -> Result<Reconciliation, CronError> {
        let places = u32::try_from(RUNS_MAX).unwrap_or(u32::MAX);
        // This request for all permits is served before any later request.
        let all = self.cron.places.acquire_many(places).await;
        self.cron.places.close();
        drop(all);
        self.reconcile().await
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.cron.places.close();
        self.cron.over.cancel();
    }
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Provider({})", self.cron.audience)
    }
}
