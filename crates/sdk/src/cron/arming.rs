//! Synchronises the desk's armed fires with the book.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::{sleep, timeout};

use super::limits::{AGAIN, CALL_WAIT};
use super::plan::plan;
use super::provider_state::{Cron, CronError, Reconciliation};
use super::store::change;
use super::warn;
use crate::desk_client::DeskCallError;

impl Cron {
    /// Arms the next fire of a job, if there is one. If the desk does not answer in time, the call is retried later.
    pub(super) async fn arm_next(&self, id: &str) {
        let armed = timeout(CALL_WAIT, self.arm(id)).await;
        if !matches!(armed, Ok(Ok(()))) {
            tracing::warn!(job = id, ?armed, "could not arm the next fire of a job; retrying");
            self.unsettled.notify_one();
        }
    }

    async fn arm(&self, id: &str) -> Result<(), CronError> {
        let _arming = self.arming.lock().await;
        let book = self.store.read().await?;
        let Some(due) = book.due_job(id) else { return Ok(()) };
        Ok(self.calls.provision(due).await?)
    }

    /// Cancels a job that has ended, unless it was set again meanwhile.
    pub(super) async fn cancel_ended(&self, id: &str) -> Result<(), CronError> {
        let _arming = self.arming.lock().await;
        if self.store.read().await?.due_job(id).is_some() {
            return Ok(());
        }
        Ok(self.calls.cancel(id).await?)
    }

    pub(super) async fn reconcile(&self) -> Result<Reconciliation, CronError> {
        let _arming = self.arming.lock().await;
        let armed = self.calls.list().await?;
        let ids: BTreeSet<String> = armed.iter().map(|armed| armed.job_id.clone()).collect();
        let now = self.clock.now();
        change(&*self.store, |book| book.move_on(&ids, now)).await?;
        let book = self.store.read().await?;
        let plan = plan(&book, &armed);
        let mut told = RefusedCalls::default();
        for due in &plan.arm {
            told.note(self.calls.provision(*due).await)?;
        }
        for id in &plan.cancel {
            told.note(self.calls.cancel(id).await)?;
        }
        told.refused.map_or(Ok(()), Err)?;
        Ok(Reconciliation { armed: plan.arm.len(), cancelled: plan.cancel.len() })
    }

    /// Reconciles the desk with the book on each notification, until it succeeds.
    #[expect(clippy::infinite_loop, reason = "the owner of the task ends it")]
    pub(super) async fn keep_settled(self: Arc<Self>) {
        loop {
            self.unsettled.notified().await;
            let mut failures = 0_u32;
            while let Err(error) = self.reconcile().await {
                warn(&error, "the desk does not have every job yet; retrying");
                failures = failures.saturating_add(1);
                sleep(AGAIN.after(failures)).await;
            }
        }
    }
}

/// The result of a reconciliation.
#[derive(Default)]
struct RefusedCalls {
    refused: Option<DeskCallError>,
}

impl RefusedCalls {
    /// Records the result of a call. A refused job does not stop the arming of others; an unanswered call ends the
    /// reconciliation, because the next call would fail too.
    fn note(&mut self, told: Result<(), DeskCallError>) -> Result<(), DeskCallError> {
        match told {
            Err(refused @ DeskCallError::Refused(..)) => self.refused = Some(refused),
            told => return told,
        }
        Ok(())
    }
}
