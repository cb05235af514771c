//! Runs a claimed fire once and reports its end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::time::sleep;

use super::calls::DoneReport;
use super::fire::Fire;
use super::job::Job;
use super::limits::{AGAIN, REPORT_TRIES_MAX};
use super::provider_state::Cron;
use super::warn;

impl Cron {
    /// Arms the next fire, runs this one, and reports its end. In this order the job continues even if the run dies.
    pub(super) async fn run(self: Arc<Self>, fire: Fire) {
        let (job, fire_id, run) = (fire.job.clone(), fire.fire_id.clone(), fire.run);
        let is_local = fire.is_local;
        let _running = self.running.begin(job.id());
        self.arm_next(job.id()).await;
        let ended = AssertUnwindSafe(async { (self.work)(fire).await }).catch_unwind().await;
        let ended = ended.unwrap_or_else(|_| Err("the run panicked".to_owned()));
        if let Err(note) = &ended {
            tracing::warn!(job = job.id(), fire = fire_id, "a run failed: {note}");
        }
        // The desk knows of no local fire.
        if job.reports && !is_local {
            let note = ended.as_ref().err().map(String::as_str);
            self.report(&DoneReport { fire_id: &fire_id, ok: ended.is_ok(), note }).await;
        }
        if job.repeat.is_some_and(|times| run >= times.get()) {
            self.take_back(&job).await;
        }
    }

    async fn report(&self, done: &DoneReport<'_>) {
        for attempt in 1..=REPORT_TRIES_MAX {
            let Err(error) = self.calls.report_done(done).await else { return };
            warn(&error, "the end of a run could not be reported");
            if attempt < REPORT_TRIES_MAX {
                sleep(AGAIN.after(attempt)).await;
            }
        }
    }

    /// Cancels a job after its last time, because the desk may expect another.
    async fn take_back(&self, job: &Job) {
        if let Err(error) = self.cancel_ended(job.id()).await {
            warn(&error, "a job that has ended could not be cancelled; retrying");
            self.unsettled.notify_one();
        }
    }
}
