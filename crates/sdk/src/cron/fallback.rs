//! Fires jobs from this process while the desk is unavailable, so that a job never loses its trigger.
//!
//! A job that is overdue makes the agent reconcile with the desk. If that succeeds, the desk is there and fires it. If not,
//! the agent fires it: the claim in the book is the same as for the desk's fire, so only one of them runs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_types::Timestamp;
use tokio::time::{sleep, timeout};

use super::book::{Book, DueJob, FireDelivery, format_time, local_fire_id};
use super::job::Overlap;
use super::limits::{CALL_WAIT, FALLBACK_AFTER, FALLBACK_LOOK_EVERY, FALLBACK_LOOK_MIN};
use super::provider_state::Cron;
use super::store::{StoreError, change};
use super::warn;

impl Cron {
    /// Looks for overdue jobs until the provider is dropped.
    #[expect(clippy::infinite_loop, reason = "the owner of the task ends it")]
    pub(super) async fn keep_ticking(self: Arc<Self>) {
        loop {
            let wait = match self.tick().await {
                Ok(wait) => wait,
                Err(error) => {
                    warn(&error, "the jobs could not be read to look for overdue ones");
                    FALLBACK_LOOK_EVERY
                }
            };
            sleep(wait).await;
        }
    }

    /// Fires the overdue jobs if the desk is unavailable. Returns the time until the next look.
    pub(super) async fn tick(self: &Arc<Self>) -> Result<Duration, StoreError> {
        let now = self.clock.now();
        let book = self.store.read().await?;
        if overdue_jobs(&book, now).next().is_none() {
            return Ok(next_look(&book, now));
        }
        // A desk that answers nothing in time is as unavailable as one that refuses.
        match timeout(CALL_WAIT, self.reconcile()).await {
            Ok(Ok(_)) => return Ok(FALLBACK_LOOK_EVERY),
            Ok(Err(error)) => warn(&error, "the desk is unavailable; firing overdue jobs locally"),
            Err(_) => tracing::warn!("the desk does not respond; firing overdue jobs locally"),
        }
        self.unsettled.notify_one();
        self.fire_overdue(now).await?;
        Ok(next_look(&self.store.read().await?, now))
    }

    /// Fires the overdue jobs from this process.
    async fn fire_overdue(self: &Arc<Self>, now: Timestamp) -> Result<(), StoreError> {
        // Times that are too old to be made up for are left behind, as after a failure of the desk.
        change(&*self.store, |book| book.move_on(&BTreeSet::new(), now)).await?;
        let book = self.store.read().await?;
        for DueJob { job, at, .. } in overdue_jobs(&book, now) {
            if self.running.contains(job.id()) && job.overlap != Some(Overlap::AllowAll) {
                continue;
            }
            let fire_at = format_time(at);
            let fire_id = local_fire_id(job.id(), &fire_at);
            let (job, fire_at) = (job.id(), Some(fire_at.as_str()));
            self.take_fire(FireDelivery { job, fire_at, fire_id: &fire_id }).await?;
        }
        Ok(())
    }
}

/// Returns the jobs that the desk should have fired by now.
fn overdue_jobs(book: &Book, now: Timestamp) -> impl Iterator<Item = DueJob<'_>> {
    book.live_jobs().filter(move |due| overdue_at(due).is_some_and(|at| at <= now))
}

/// Returns the time at which a job is overdue.
fn overdue_at(due: &DueJob<'_>) -> Option<Timestamp> {
    let late = FALLBACK_AFTER + due.job.jitter.unwrap_or_default();
    due.at.checked_add(late).ok()
}

/// Returns the time until a job could be overdue, within bounds.
fn next_look(book: &Book, now: Timestamp) -> Duration {
    let next = book.live_jobs().filter_map(|due| overdue_at(&due)).min();
    let wait = next.map_or(FALLBACK_LOOK_EVERY, |next| {
        Duration::try_from(next.duration_since(now)).unwrap_or_default()
    });
    wait.clamp(FALLBACK_LOOK_MIN, FALLBACK_LOOK_EVERY)
}
