//! The stop itself: claim, call, note.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::time::Duration;

use nightdesk_types::limits::{CALL_BEGUN_WITHIN, STATEMENT_WAIT, WAKE_CALLS_AT_ONCE_MAX};
use nightdesk_types::planted::{Bug, crash_point, is_planted};
use nightdesk_types::{AgentId, StoreError, TenantScope};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::metrics::Metrics;
use crate::store::{Claimed, Step, Store, Terms, Which};
use crate::waits::wait_after;
use crate::{ByCommand, ByUrl};

/// What came of a call. The words are for whoever looks after the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Whoever was called took it. Whether the agent gets up, its line shows.
    Taken(String),
    /// It was of no use.
    Failed(String),
    /// It was not made: there are too many to that address. It may be made after so long.
    PutOff(Duration),
}

/// Room for one call, from before its wake is claimed to its end.
#[derive(Debug)]
pub struct Room {
    _permit: OwnedSemaphorePermit,
    /// Then it is too late for the call: the store counts from the claim when the agent may be
    /// called again.
    begins_by: Instant,
}

impl Room {
    /// Before the claim.
    fn taken(permit: OwnedSemaphorePermit) -> Self {
        Self { _permit: permit, begins_by: Instant::now() + STATEMENT_WAIT + CALL_BEGUN_WITHIN }
    }

    /// From the answer to the claim there is a moment left, however long a slow store took for it; but
    /// none does take longer than it may.
    fn claimed(&mut self) {
        self.begins_by = self.begins_by.min(Instant::now() + CALL_BEGUN_WITHIN);
    }

    fn is_late(&self) -> bool {
        Instant::now() > self.begins_by
    }
}

/// Calls agents for which something waits.
pub struct Wake {
    store: Arc<dyn Store>,
    by_url: Arc<dyn ByUrl>,
    by_command: Option<ByCommand>,
    terms: Terms,
    at_once: Arc<Semaphore>,
    /// Spreads agents and times; the same in every life, so that a run can be played again.
    spread: BuildHasherDefault<DefaultHasher>,
    metrics: Metrics,
}

impl std::fmt::Debug for Wake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wake")
    }
}

impl Wake {
    /// Calls by these means. An agent's URLs come first, in their order, then the command.
    pub fn new(
        store: Arc<dyn Store>,
        by_url: Arc<dyn ByUrl>,
        by_command: Option<ByCommand>,
        wakes_per_hour: u32,
    ) -> Self {
        Self {
            store,
            by_url,
            terms: Terms { has_command: by_command.is_some(), wakes_per_hour },
            by_command,
            at_once: Arc::new(Semaphore::new(WAKE_CALLS_AT_ONCE_MAX)),
            spread: BuildHasherDefault::default(),
            metrics: Metrics::default(),
        }
    }

    /// A URL as an agent would be called there, or why it would not be.
    pub fn may_call(&self, url: &str) -> Result<String, String> {
        self.by_url.may_call(url)
    }

    /// What it counts.
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Takes as many of the wakes that are due as there is room for. Each comes with its room. Half
    /// of what is free is left to agents for whom something just came.
    pub async fn claim_due(&self) -> Result<Vec<(Claimed, Room)>, StoreError> {
        let half = self.at_once.available_permits().div_ceil(2);
        let mut rooms: Vec<_> = (0..half).map_while(|_| self.room()).collect();
        if rooms.is_empty() {
            return Ok(Vec::new());
        }
        let claimed = self.claim(Which::Due(rooms.len())).await?;
        rooms.iter_mut().for_each(Room::claimed);
        Ok(claimed.into_iter().zip(rooms).collect())
    }

    /// Takes the wake of an agent, if it is due and there is room for a call.
    pub async fn claim_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<(Claimed, Room)>, StoreError> {
        let Some(mut room) = self.room() else { return Ok(None) };
        let claimed = self.claim(Which::Of(scope, agent)).await?.pop();
        room.claimed();
        Ok(claimed.map(|claimed| (claimed, room)))
    }

    async fn claim(&self, which: Which) -> Result<Vec<Claimed>, StoreError> {
        let claimed = self.store.claim(which, &self.terms).await?;
        for Claimed { step, .. } in &claimed {
            self.metrics.claimed(*step);
        }
        Ok(claimed)
    }

    /// Room for one call, if there is any. What finds none is found by the next sweep.
    fn room(&self) -> Option<Room> {
        let permit = Arc::clone(&self.at_once).try_acquire_owned().ok()?;
        Some(Room::taken(permit))
    }

    /// Makes the call a wake was claimed for, and writes down what came of it. A node that stood
    /// still since the claim does not call: others may, by now.
    pub async fn call(&self, claimed: &Claimed, room: &Room) -> Result<Outcome, StoreError> {
        debug_assert_eq!(claimed.step, Step::Call, "only what is to be called is called");
        let Claimed { agent, calls, .. } = claimed;
        if is_planted(Bug::WakeAfterGoodbye) && !claimed.went_idle {
            return Ok(Outcome::Failed("nobody said goodbye".to_owned()));
        }
        crash_point("K18");
        let outcome =
            if room.is_late() { Outcome::PutOff(Duration::ZERO) } else { self.dial(claimed).await };
        crash_point("K19");
        self.metrics.called(&outcome);
        match &outcome {
            Outcome::PutOff(wait) => self.store.put_off(claimed, *wait).await?,
            Outcome::Taken(words) | Outcome::Failed(words) => {
                tracing::info!(
                    agent.id = %agent,
                    wake.attempt = calls,
                    "called agent {agent}, attempt {calls}: {words}"
                );
                self.store.note(claimed, words, wait_after(*calls, self.random(claimed))).await?;
            }
        }
        Ok(outcome)
    }

    /// One of those who can be called: the next after a call that was of no use.
    async fn dial(&self, claimed: &Claimed) -> Outcome {
        let Claimed { scope, agent, urls, calls, .. } = claimed;
        let all = urls.len() + usize::from(self.by_command.is_some());
        let nth = usize::try_from(calls.saturating_sub(1)).unwrap_or(0).checked_rem(all);
        match (nth.and_then(|nth| urls.get(nth)), &self.by_command) {
            (Some(url), _) => self.by_url.call(scope.tenant(), url).await,
            (None, Some(command)) => command.call(scope.tenant(), *agent).await,
            (None, None) => Outcome::Failed("nobody can be called for it".to_owned()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a wait need not be that exact")]
    fn random(&self, claimed: &Claimed) -> f64 {
        let Claimed { agent, since, calls, .. } = claimed;
        self.spread.hash_one((agent, since, calls)) as f64 / u64::MAX as f64
    }

    /// Notes that people were told that their agent was given up.
    pub async fn told(&self, claimed: &Claimed) -> Result<(), StoreError> {
        self.store.told(claimed).await
    }

    /// Has an agent called although it has this line: nobody answers on it.
    pub async fn suspect(
        &self,
        (scope, agent): (TenantScope, AgentId),
        line: nightdesk_types::Generation,
    ) -> Result<(), StoreError> {
        self.store.suspect(scope, agent, line).await
    }

    /// Closes lines whose nodes died, a batch of them. Answers how many.
    pub async fn bury(&self) -> Result<u64, StoreError> {
        let buried = self.store.bury().await?;
        self.metrics.buried(buried);
        Ok(buried)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// Whether a call is late after a claim that took so long, and so much more time.
    async fn is_late(claim: Duration, after: Duration) -> bool {
        let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().expect("there is one");
        let mut room = Room::taken(permit);
        advance(claim).await;
        room.claimed();
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
