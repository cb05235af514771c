//! Simulates the wake targets of agents.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::LineClaim;
use nightdesk_line::LineHandler as _;
use nightdesk_types::{Generation, Incarnation, TenantId};
use nightdesk_wake::{CallOutcome, OwnerNotice, WakeAdmin, WakeUrlCaller};
use tokio::sync::watch;
use tokio::time::timeout;

use super::gateway::PATIENCE;
use super::{Household, TestDesk};

/// Takes every call, and records it.
#[derive(Debug)]
pub struct TestCalls {
    called: watch::Sender<Vec<String>>,
    answer: Mutex<CallOutcome>,
}

impl Default for TestCalls {
    fn default() -> Self {
        let answer = Mutex::new(CallOutcome::Taken("200 in 1 ms".to_owned()));
        Self { called: watch::Sender::new(Vec::new()), answer }
    }
}

impl TestCalls {
    /// Returns the URLs that were called, in order.
    pub fn urls(&self) -> Vec<String> {
        self.called.borrow().clone()
    }

    /// Waits until this many calls were made.
    pub async fn made(&self, count: usize) {
        let mut called = self.called.subscribe();
        let made = called.wait_for(|called| called.len() >= count);
        timeout(PATIENCE, made).await.expect("the calls are made in time").expect("it is open");
    }

    /// Fails every call from now on.
    pub fn fail(&self, why: &str) {
        self.answer(CallOutcome::Failed(why.to_owned()));
    }

    fn answer(&self, outcome: CallOutcome) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
    }

    /// Defers every call from now on.
    pub fn put_off(&self, span: Duration) {
        self.answer(CallOutcome::PutOff(span));
    }
}

impl TestDesk {
    /// Sets the wake URLs of a household's agent, in this order.
    pub async fn is_called_at(&self, household: &Household, urls: &[&str]) {
        let Household { scope, agent, .. } = household;
        let urls: Vec<String> = urls.iter().map(|&url| url.to_owned()).collect();
        self.store
            .set_wake_urls(*scope, *agent, &urls)
            .await
            .expect("say where an agent is called");
    }

    /// Advances the time, runs the sweep, and waits until it is done.
    pub async fn wakes_after(&self, span: Duration) {
        self.store.clock().let_pass(span);
        self.desk.waking.sweep().await.expect("sweep");
        self.settled().await;
    }

    /// Marks a household's line of that number as suspect, as the line itself does.
    pub async fn suspects_line(&self, household: &Household, generation: i64) {
        let Household { scope, agent, .. } = *household;
        let (incarnation, generation) = (Incarnation::default(), Generation::new(generation));
        let line = LineClaim { scope, agent, incarnation, generation };
        self.desk.line.suspect(&line).await.expect("note a suspicion");
    }

    /// Returns the wake state of a household's agent, if it ever needed one.
    pub async fn wake_state(&self, household: &Household) -> Option<String> {
        let Household { scope, agent, .. } = household;
        let status = self.store.status(*scope, Some(*agent), "").await.expect("look at wakes");
        status.into_iter().find_map(|status| status.wake).map(|wake| wake.state)
    }

    /// Returns the notices of a household, newest first.
    pub async fn notices(&self, household: &Household) -> Vec<String> {
        let notices = self.store.notices(household.scope).await.expect("read notices");
        notices.iter().map(OwnerNotice::text).collect()
    }
}

#[async_trait]
impl WakeUrlCaller for TestCalls {
    async fn call(&self, _tenant: TenantId, url: &str) -> CallOutcome {
        self.called.send_modify(|called| called.push(url.to_owned()));
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Permits every https URL.
    fn may_call(&self, url: &str) -> Result<String, String> {
        if url.starts_with("https://") { Ok(url.to_owned()) } else { Err("not https".to_owned()) }
    }
}
