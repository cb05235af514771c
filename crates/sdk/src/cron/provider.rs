//! Provider: has an agent's jobs kept by its desk, and runs them when they are due.

use std::fmt::Display;
use std::sync::Arc;

use nightdesk_types::{Clock, SystemClock};
use tokio::sync::{Mutex, Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::book::{Came, Claim};
use super::calls::Calls;
use super::door;
use super::job::{BadJob, Job};
use super::keys::Keys;
use super::limits::{JOBS_MAX, RUNS_MAX};
use super::runs::{Fire, Work, work};
use super::settings::{Checked, Settings};
use super::store::{Store, StoreError, change};
use super::token::Wanted;
use crate::asking::{Asking, BadSettings, CallError, Pass};

/// Has an agent's jobs kept by its desk, and runs them when they are due. When it is dropped, the
/// runs under way are dropped with it; [`rest`](Self::rest) waits for them.
#[must_use = "jobs are run by their provider"]
pub struct Provider {
    pub(super) cron: Arc<Cron>,
}

/// What provider, door and runs share.
pub(super) struct Cron {
    pub(super) calls: Calls,
    pub(super) keys: Keys,
    pub(super) wanted: Wanted,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) store: Arc<dyn Store>,
    pub(super) work: Work,
    /// Whoever holds it tells the desk what to keep, by the book as it stands then.
    pub(super) arming: Mutex<()>,
    /// Rung when the desk does not keep what it should.
    pub(super) unsettled: Notify,
    places: Arc<Semaphore>,
    tasks: TaskTracker,
    over: CancellationToken,
}

/// What became of a fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fired {
    /// Its job runs.
    Started,
    /// It ran before, or the job was changed since it was armed.
    Lost,
    /// There is no such job, or it has ended.
    Gone,
    /// Too much runs already, the agent is about to go, or the job is not due by its clock: come
    /// again.
    NotNow,
}

/// What a desk had to be told so that it keeps the right fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// So many were missing, or for another time.
    pub armed: usize,
    /// So many were for jobs that are gone.
    pub cancelled: usize,
}

/// Why a job is not kept as it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CronError {
    /// It is no job.
    #[error(transparent)]
    Job(#[from] BadJob),
    /// There are too many.
    #[error("an agent has at most {JOBS_MAX} jobs; remove one")]
    TooManyJobs,
    /// What came is no fire of a desk's.
    #[error("a fire's id is a UUID")]
    FireId,
    /// The jobs could not be read or kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The jobs are kept, but the desk does not know of all yet. It is told again and again.
    #[error(transparent)]
    Desk(#[from] CallError),
}

impl Provider {
    /// Begins with the jobs that are in the store: the desk is told of them in the background.
    /// `run` is called for every fire, in a task of its own.
    ///
    /// # Errors
    ///
    /// Nobody could start with these settings.
    pub fn start<F, Run, E>(
        settings: Settings,
        store: impl Store + 'static,
        run: F,
    ) -> Result<Self, BadSettings>
    where
        F: Fn(Fire) -> Run + Send + Sync + 'static,
        Run: Future<Output = Result<(), E>> + Send + 'static,
        E: Display,
    {
        let clock = Arc::new(SystemClock::started());
        Ok(Self::over(settings.checked()?, Arc::new(store), clock, work(run)))
    }

    pub(super) fn over(
        settings: Checked,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        work: Work,
    ) -> Self {
        let Checked { desk, issuer, audience, callback, login, client } = settings;
        let pass = Pass::new(login, &desk, Arc::clone(&clock));
        let cron = Arc::new(Cron {
            keys: Keys::new(client.clone(), &desk),
            wanted: Wanted { issuer, audience },
            calls: Calls::new(Asking::new(client, desk, pass), callback),
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
        Self { cron }
    }

    /// Takes a job in, and tells the desk. One that is there with the same schedule goes on as it
    /// stands, also if it has ended, so that an agent may set its jobs at every start.
    ///
    /// # Errors
    ///
    /// After [`CronError::Desk`] the job is kept, and the desk is told again by itself.
    pub async fn set(&self, job: Job) -> Result<(), CronError> {
        job.check()?;
        let now = self.cron.clock.now();
        let set = change(&*self.cron.store, |book| book.set(job.clone(), now)).await?;
        set.map_err(|_| CronError::TooManyJobs)?;
        self.reconcile().await.map(drop)
    }

    /// Forgets a job, and tells the desk. That there is none is no error.
    ///
    /// # Errors
    ///
    /// After [`CronError::Desk`] the job is gone, and the desk is told again by itself.
    pub async fn remove(&self, id: &str) -> Result<(), CronError> {
        change(&*self.cron.store, |book| book.remove(id)).await?;
        self.reconcile().await.map(drop)
    }

    /// Every job that has not ended, and when it is due next.
    ///
    /// # Errors
    ///
    /// The jobs could not be read.
    pub async fn jobs(&self) -> Result<Vec<(Job, nightdesk_types::Timestamp)>, CronError> {
        let book = self.cron.store.read().await?;
        Ok(book.live().map(|due| (due.job.clone(), due.at)).collect())
    }

    /// Compares what the desk keeps with what it should, and sets it right. That is done by itself
    /// at the start, after every change and after what could not be told.
    ///
    /// # Errors
    ///
    /// The jobs could not be read, or the desk could not be told of all; it is told again by
    /// itself.
    pub async fn reconcile(&self) -> Result<Reconciled, CronError> {
        self.cron.reconcile().await.inspect_err(|_| self.cron.unsettled.notify_one())
    }

    /// Takes a fire that came some other way than through the [door](Self::door), as through the
    /// agent's inbox.
    ///
    /// # Errors
    ///
    /// It is no fire of a desk's, or the jobs could not be read or kept: come again.
    pub async fn fired(&self, job: &str, fire_at: &str, fire_id: &str) -> Result<Fired, CronError> {
        let id = Uuid::try_parse(fire_id).map_err(|_| CronError::FireId)?.to_string();
        let came = Came { job, fire_at: Some(fire_at), fire_id: &id };
        Ok(self.cron.take(came).await?)
    }

    /// Where the desk fires: `POST /api/cron/fire`. Serve it at the URL that the settings name.
    pub fn door(&self) -> axum::Router {
        door::router(Arc::clone(&self.cron))
    }

    /// Takes no more fires, waits for the runs under way, and sees to it that the desk keeps what
    /// it should. After that the process may go.
    ///
    /// # Errors
    ///
    /// The runs have ended, but the desk could not be told of all jobs.
    pub async fn rest(self) -> Result<Reconciled, CronError> {
        let places = u32::try_from(RUNS_MAX).unwrap_or(u32::MAX);
        // Who waits for all of them is before whoever comes later.
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
        write!(f, "Provider({})", self.cron.wanted.audience)
    }
}

impl Cron {
    /// Claims a fire and lets its job run.
    pub(super) async fn take(self: &Arc<Self>, came: Came<'_>) -> Result<Fired, StoreError> {
        let cron = Arc::clone(self);
        let (job, fire_id) = (came.job.to_owned(), came.fire_id.to_owned());
        let fire_at = came.fire_at.map(str::to_owned);
        // In a task of its own: who hangs up must not come between a claim and its run.
        let taken = self.tasks.spawn(async move {
            let fire_at = fire_at.as_deref();
            cron.take_to_the_end(Came { job: &job, fire_at, fire_id: &fire_id }).await
        });
        taken.await.map_err(|error| StoreError::new("a claim did not end", Some(error.into())))?
    }

    async fn take_to_the_end(self: &Arc<Self>, came: Came<'_>) -> Result<Fired, StoreError> {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return Ok(Fired::NotNow);
        };
        let now = self.clock.now();
        match change(&*self.store, |book| book.claim(came, now)).await? {
            Claim::Won { job, fire_at, run } => {
                let fire = Fire { job, fire_at, fire_id: came.fire_id.to_owned(), run };
                let run = Arc::clone(self).run(fire);
                self.spawn(async move {
                    run.await;
                    drop(place);
                });
                Ok(Fired::Started)
            }
            Claim::Old => {
                // The desk keeps another time than we do.
                self.unsettled.notify_one();
                Ok(Fired::Lost)
            }
            Claim::Used => Ok(Fired::Lost),
            Claim::Early => Ok(Fired::NotNow),
            Claim::Gone => Ok(Fired::Gone),
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let over = self.over.clone();
        self.tasks.spawn(async move { over.run_until_cancelled(task).await });
    }
}
