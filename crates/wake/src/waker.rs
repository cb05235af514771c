//! Claims due wakes, calls the agents and records the outcomes.

use std::sync::Arc;
use std::time::Duration;

use fail::fail_point;
use nightdesk_types::backoff::jitter;
use nightdesk_types::limits::{
    CALL_BEGUN_AFTER_CLAIM_MAX, CALL_BEGUN_WITHIN, CALL_WAIT_FIRST, STILL_WAKING_AFTER,
    WAKE_CALLS_AT_ONCE_MAX,
};
use nightdesk_types::{AgentId, StoreError, TenantScope};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;

use crate::backoff::backoff_after;
use crate::metrics::Metrics;
use crate::store::{Store, WakeClaim, WakeSelection, WakeStep, WakeTerms};
use crate::{WakeCommand, WakeUrlCaller};

/// The outcome of a call. The text is for the operator of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// The call succeeded. Only the agent's line shows that the agent is up.
    Taken(String),
    /// The call failed.
    Failed(String),
    /// No call was made because too many go to that address. It may be made after this time.
    PutOff(Duration),
}

/// An agent whose entries are to be posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookCall {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
}

/// Room for one call, from before the claim of its wake to the end of the call.
#[derive(Debug)]
pub struct CallPermit {
    _permit: OwnedSemaphorePermit,
    /// The latest start of the call. The store counts from the claim when the agent may be called again.
    begins_by: Instant,
}

impl CallPermit {
    /// Takes the room before the claim.
    fn new(permit: OwnedSemaphorePermit) -> Self {
        Self { _permit: permit, begins_by: Instant::now() + CALL_BEGUN_AFTER_CLAIM_MAX }
    }

    /// Lets the call start within [`CALL_BEGUN_WITHIN`] of the response to the claim, so that a slow store does not
    /// make it late. A slower claim does not extend [`CALL_BEGUN_AFTER_CLAIM_MAX`].
    fn limit_after_claim(&mut self) {
        self.begins_by = self.begins_by.min(Instant::now() + CALL_BEGUN_WITHIN);
    }

    fn is_late(&self) -> bool {
        Instant::now() > self.begins_by
    }
}

/// Calls agents for which entries wait.
pub struct Waker {
    store: Arc<dyn Store>,
    by_url: Arc<dyn WakeUrlCaller>,
    by_command: Option<WakeCommand>,
    by_webhook: Option<mpsc::Sender<WebhookCall>>,
    terms: WakeTerms,
    at_once: Arc<Semaphore>,
    metrics: Metrics,
}

nightdesk_types::opaque_debug!(Waker);

impl Waker {
    /// Creates the caller. It calls an agent's URLs first, in their order, then the command.
    pub fn new(
        store: Arc<dyn Store>,
        by_url: Arc<dyn WakeUrlCaller>,
        by_command: Option<WakeCommand>,
        wakes_per_hour: u32,
    ) -> Self {
        Self {
            store,
            by_url,
            terms: WakeTerms {
                has_command: by_command.is_some(),
                wakes_per_hour,
                still_waking_after: STILL_WAKING_AFTER,
            },
            by_command,
            by_webhook: None,
            at_once: Arc::new(Semaphore::new(WAKE_CALLS_AT_ONCE_MAX)),
            metrics: Metrics::default(),
        }
    }

    /// Opens the lines of agents with a webhook through this channel.
    #[must_use]
    pub fn with_webhooks(self, by_webhook: mpsc::Sender<WebhookCall>) -> Self {
        Self { by_webhook: Some(by_webhook), ..self }
    }

    /// Tells the author of the oldest waiting entry after this time that the agent still does not come.
    #[must_use]
    pub fn with_still_waking_after(self, still_waking_after: Duration) -> Self {
        Self { terms: WakeTerms { still_waking_after, ..self.terms }, ..self }
    }

    /// Returns the URL in the form in which it is called, or the reason for a refusal.
    pub fn may_call(&self, url: &str) -> Result<String, String> {
        self.by_url.may_call(url)
    }

    /// Returns true if the operator set a command that can wake agents without a URL.
    pub const fn has_command(&self) -> bool {
        self.terms.has_command
    }

    /// Returns the metrics.
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Claims due wakes, each with its room. Half of the free room is left for agents whose entries just came.
    pub async fn claim_due(&self) -> Result<Vec<(WakeClaim, CallPermit)>, StoreError> {
        let half = self.at_once.available_permits().div_ceil(2);
        let mut rooms: Vec<_> = (0..half).map_while(|_| self.take_permit()).collect();
        if rooms.is_empty() {
            return Ok(Vec::new());
        }
        let claimed = self.claim(WakeSelection::Due(rooms.len())).await?;
        rooms.iter_mut().for_each(CallPermit::limit_after_claim);
        Ok(claimed.into_iter().zip(rooms).collect())
    }

    /// Claims the wake of an agent, if it is due and there is room for a call.
    pub async fn claim_agent(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<(WakeClaim, CallPermit)>, StoreError> {
        let Some(mut room) = self.take_permit() else { return Ok(None) };
        let claimed = self.claim(WakeSelection::Of(scope, agent)).await?.pop();
        room.limit_after_claim();
        Ok(claimed.map(|claimed| (claimed, room)))
    }

    async fn claim(&self, which: WakeSelection) -> Result<Vec<WakeClaim>, StoreError> {
        let claimed = self.store.claim(which, &self.terms).await?;
        for WakeClaim { step, .. } in &claimed {
            self.metrics.count_claim(*step);
        }
        Ok(claimed)
    }

    /// Returns room for one call, if there is any. A wake without room is claimed by the next sweep.
    fn take_permit(&self) -> Option<CallPermit> {
        let permit = Arc::clone(&self.at_once).try_acquire_owned().ok()?;
        Some(CallPermit::new(permit))
    }

    /// Makes the call of a claimed wake and records the outcome. A node that was suspended since the claim makes no
    /// call, because another node may call by now.
    pub async fn call(
        &self,
        claimed: &WakeClaim,
        room: &CallPermit,
    ) -> Result<CallOutcome, StoreError> {
        debug_assert_eq!(claimed.step, WakeStep::Call, "only what is to be called is called");
        let WakeClaim { agent, calls, .. } = claimed;
        fail_point!("wake::before_call");
        let outcome = if room.is_late() {
            CallOutcome::PutOff(Duration::ZERO)
        } else {
            self.dial(claimed).await
        };
        fail_point!("wake::called_before_note");
        self.metrics.count_call(&outcome);
        match &outcome {
            CallOutcome::PutOff(wait) => self.store.put_off(claimed, *wait).await?,
            CallOutcome::Taken(words) | CallOutcome::Failed(words) => {
                tracing::info!(
                    agent.id = %agent,
                    wake.attempt = calls,
                    "called agent {agent}, attempt {calls}: {words}"
                );
                let wait = backoff_after(*calls, jitter((agent, claimed.since, calls)));
                self.store.record_outcome(claimed, words, wait).await?;
            }
        }
        Ok(outcome)
    }

    /// Calls one of the agent's addresses. Each attempt takes the next address.
    async fn dial(&self, claimed: &WakeClaim) -> CallOutcome {
        let WakeClaim { scope, agent, urls, calls, .. } = claimed;
        if claimed.has_webhook
            && let Some(by_webhook) = &self.by_webhook
        {
            let call = WebhookCall { scope: *scope, agent: *agent };
            return by_webhook.try_send(call).map_or(CallOutcome::PutOff(CALL_WAIT_FIRST), |()| {
                CallOutcome::Taken("its entries are posted".to_owned())
            });
        }
        let all = urls.len() + usize::from(self.by_command.is_some());
        let nth = usize::try_from(calls.saturating_sub(1)).unwrap_or(0).checked_rem(all);
        match (nth.and_then(|nth| urls.get(nth)), &self.by_command) {
            (Some(url), _) => self.by_url.call(scope.tenant(), url).await,
            (None, Some(command)) => command.call(scope.tenant(), *agent).await,
            (None, None) => CallOutcome::Failed("the agent has no wake URL".to_owned()),
        }
    }

    /// Records that people were notified that their agent was given up.
    pub async fn record_notified(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        self.store.record_notified(claimed).await
    }

    /// Records that the author of the oldest entry was told that the agent still does not come.
    pub async fn record_delay_told(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        self.store.record_delay_told(claimed).await
    }

    /// Makes the desk call an agent although it has this line, because the line does not answer.
    pub async fn suspect(
        &self,
        scope: TenantScope,
        agent: AgentId,
        line: nightdesk_types::Generation,
    ) -> Result<(), StoreError> {
        self.store.suspect(scope, agent, line).await
    }

    /// Closes a batch of lines whose nodes died. Returns their number.
    pub async fn close_dead_lines(&self) -> Result<u64, StoreError> {
        let buried = self.store.close_dead_lines().await?;
        self.metrics.count_buried(buried);
        Ok(buried)
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::limits::STATEMENT_WAIT;
    use tokio::time::advance;

    use super::*;

    /// Returns true if a call is late this long after a claim of this duration.
    async fn is_late(claim: Duration, after: Duration) -> bool {
        let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().expect("there is one");
        let mut room = CallPermit::new(permit);
        advance(claim).await;
        room.limit_after_claim();
        advance(after).await;
        room.is_late()
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_store_makes_no_call_late_and_a_node_that_stood_still_does() {
        let (moment, none) = (Duration::from_millis(1), Duration::ZERO);
        assert!(!is_late(none, CALL_BEGUN_WITHIN).await);
        assert!(is_late(none, CALL_BEGUN_WITHIN + moment).await, "after the claim");
        assert!(!is_late(STATEMENT_WAIT, CALL_BEGUN_WITHIN).await, "as slow as it may be");
        assert!(is_late(STATEMENT_WAIT + CALL_BEGUN_WITHIN, moment).await, "during the claim");
    }
}
