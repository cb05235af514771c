//! Simulates the callbacks that receive fires.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use nightdesk_schedule::{
    ActiveJob, ArmRequest, Fire, FireAt, FireCaller, FireClaim, FireOutcome, JobAdmin as _, JobId,
    Policies, Target,
};
use nightdesk_types::{Clock, Timestamp};
use tokio::sync::watch;
use tokio::time::timeout;

use super::gateway::PATIENCE;
use super::{Household, TestDesk};

/// The callback URL of every agent in a test.
pub const CALLBACK: &str = "https://agent.test";

/// Takes every fire unless another outcome is set, and records it.
#[derive(Debug)]
pub struct TestFires {
    told: watch::Sender<Vec<(FireClaim, Timestamp)>>,
    answers: Mutex<VecDeque<FireOutcome>>,
}

impl Default for TestFires {
    fn default() -> Self {
        Self { told: watch::Sender::new(Vec::new()), answers: Mutex::default() }
    }
}

impl TestFires {
    /// Returns the received fires in order, with their times by the store's clock.
    pub fn told(&self) -> Vec<(FireClaim, Timestamp)> {
        self.told.borrow().clone()
    }

    /// Waits until this many fires were received.
    pub async fn made(&self, count: usize) {
        let mut told = self.told.subscribe();
        let made = told.wait_for(|told| told.len() >= count);
        timeout(PATIENCE, made).await.expect("agents are told in time").expect("it is open");
    }

    /// Sets the outcomes of the next calls. All later calls are taken.
    pub fn answer(&self, outcomes: impl IntoIterator<Item = FireOutcome>) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).extend(outcomes);
    }
}

impl TestDesk {
    /// Starts the scheduler.
    pub fn keep_time(&self) {
        let (timekeeping, drain) = (Arc::clone(&self.desk.timekeeping), self.drain.clone());
        self.street.spawn(async move { timekeeping.run(&drain).await });
    }

    /// Arms a job of a household's agent for this many seconds from now, by the store's clock.
    pub async fn arms(&self, household: &Household, job: &str, secs: i64, to: Target) -> ActiveJob {
        let now = self.store.clock().now().as_second();
        let fire_at = Timestamp::from_second(now + secs).expect("a time");
        let arm = ArmRequest {
            job: JobId::new(job).expect("a name"),
            fire_at: FireAt::from_timestamp(fire_at),
            to,
            recurring: false,
            reports: false,
            policies: Policies::default(),
        };
        let Household { scope, agent, .. } = *household;
        self.desk.stops.schedule.arm(scope, agent, &arm).await.expect("arm a job")
    }

    /// Returns the fires of a household, newest first.
    pub async fn fires_of(&self, household: &Household) -> Vec<Fire> {
        self.store.list_fires(household.scope, None, None).await.expect("read fires")
    }
}

#[async_trait]
impl FireCaller for TestFires {
    async fn call(&self, fire: &FireClaim, _callback: &str, now: Timestamp) -> FireOutcome {
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        self.told.send_modify(|told| told.push((fire.clone(), now)));
        answer.unwrap_or_else(|| FireOutcome::Taken("202 in 1 ms".to_owned()))
    }

    /// Permits every https URL.
    fn may_call(&self, url: &str) -> Result<String, String> {
        if url.starts_with("https://") { Ok(url.to_owned()) } else { Err("not https".to_owned()) }
    }
}
