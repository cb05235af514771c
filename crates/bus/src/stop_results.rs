//! The stops of this node that wait for their results.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use nightdesk_types::limits::STOPS_WAITING_MAX;
use nightdesk_types::{StopId, StopOutcome};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::sync::{Mutex, MutexGuard};

type WaitingStops = Mutex<BTreeMap<StopId, oneshot::Sender<StopOutcome>>>;

/// The stops that wait. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub struct StopResults(Arc<WaitingStops>);

/// A stop that waits. It ends when this value is dropped.
#[derive(Debug)]
pub struct StopWait {
    results: StopResults,
    stop_id: StopId,
    told: oneshot::Receiver<StopOutcome>,
}

impl StopResults {
    /// Starts to wait for a result, if there is room.
    pub fn begin_wait(&self, stop_id: StopId) -> Option<StopWait> {
        let (tell, told) = oneshot::channel();
        let mut waiting = self.lock();
        if waiting.len() >= STOPS_WAITING_MAX {
            return None;
        }
        waiting.insert(stop_id.clone(), tell);
        drop(waiting);
        Some(StopWait { results: self.clone(), stop_id, told })
    }

    /// Reports a result. Returns true if its stop waits. Only the first result of a stop counts.
    pub fn report(&self, stop_id: &StopId, outcome: StopOutcome) -> bool {
        let waiting = self.lock().remove(stop_id);
        waiting.is_some_and(|tell| tell.send(outcome).is_ok())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<StopId, oneshot::Sender<StopOutcome>>> {
        // The map is consistent at every step, also if a holder of the lock panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StopWait {
    /// Waits for the result. `None`: it did not come in time.
    pub async fn wait(&mut self, wait: Duration) -> Option<StopOutcome> {
        timeout(wait, &mut self.told).await.ok()?.ok()
    }
}

impl Drop for StopWait {
    fn drop(&mut self) {
        self.results.lock().remove(&self.stop_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(1);

    fn stop(number: u128) -> StopId {
        StopId::from_random(number)
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_reaches_its_stop_and_no_other() {
        let results = StopResults::default();
        let mut one = results.begin_wait(stop(1)).unwrap();
        let mut other = results.begin_wait(stop(2)).unwrap();

        assert!(results.report(&stop(1), StopOutcome::Stopped));
        assert!(!results.report(&stop(1), StopOutcome::NotRunning), "the first one counts");
        assert!(!results.report(&stop(3), StopOutcome::Stopped), "nothing waits for it");
        assert_eq!(one.wait(WAIT).await, Some(StopOutcome::Stopped));
        assert_eq!(other.wait(WAIT).await, None);
    }

    #[tokio::test]
    async fn a_dropped_wait_leaves_nothing_behind() {
        let results = StopResults::default();
        drop(results.begin_wait(stop(1)));

        assert!(!results.report(&stop(1), StopOutcome::Stopped));
    }

    #[tokio::test]
    async fn waits_have_a_limit() {
        let results = StopResults::default();
        let waits: Vec<_> =
            (0..STOPS_WAITING_MAX).map_while(|n| results.begin_wait(stop(n as u128))).collect();

        assert_eq!(waits.len(), STOPS_WAITING_MAX);
        assert!(results.begin_wait(stop(u128::MAX)).is_none());
        drop(waits);
        assert!(results.begin_wait(stop(u128::MAX)).is_some());
    }
}
