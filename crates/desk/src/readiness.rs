//! Reports whether this node is ready for work.
//!
//! Tokens, leases and retention depend on time, so a node whose clock differs from the database's is not ready: it
//! would refuse valid tokens and accept old ones.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nightdesk_types::limits::CLOCK_DIFFERENCE_MAX;
use nightdesk_types::{Clock, StoreError, Timestamp};

/// The reason that a node is not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadyReason {
    /// The node has not compared the clocks yet.
    #[error("starting")]
    Starting,
    /// The database does not respond.
    #[error("the database does not answer")]
    StoreLost,
    /// The node's clock differs from the database's.
    #[error("this node's clock differs from the database's by {} ms; let NTP set both", .0.as_millis())]
    ClockDiffers(Duration),
    /// The node stops.
    #[error("stopping")]
    Stopping,
}

/// The last known readiness of this node.
#[derive(Clone)]
pub struct Readiness {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<Result<(), UnreadyReason>>>,
}

impl std::fmt::Debug for Readiness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Readiness({:?})", self.get())
    }
}

impl Readiness {
    /// Creates the readiness of a node with this clock, before its first comparison.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Arc::new(Mutex::new(Err(UnreadyReason::Starting))) }
    }

    /// Returns `Ok` if the node is ready, or the reason that it is not.
    pub fn get(&self) -> Result<(), UnreadyReason> {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares the clocks.
    pub async fn compare_clocks(
        &self,
        time: impl Future<Output = Result<Timestamp, StoreError>>,
    ) -> Result<(), StoreError> {
        let before = self.clock.now();
        let answered = time.await;
        let after = self.clock.now();
        self.set(match &answered {
            Ok(theirs) => check_clock(before, *theirs, after),
            Err(_) => Err(UnreadyReason::StoreLost),
        });
        answered.map(drop)
    }

    /// Marks the node as stopping. It is never ready again.
    pub fn stop(&self) {
        self.set(Err(UnreadyReason::Stopping));
    }

    fn set(&self, now: Result<(), UnreadyReason>) {
        let mut found = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *found == Err(UnreadyReason::Stopping) || *found == now {
            return;
        }
        *found = now;
        tracing::info!(
            "{}",
            now.map_or_else(|why| format!("not ready: {why}"), |()| "ready".to_owned())
        );
    }
}

/// Checks how far the database's time is outside the interval of the request.
fn check_clock(
    before: Timestamp,
    theirs: Timestamp,
    after: Timestamp,
) -> Result<(), UnreadyReason> {
    let ahead = theirs.duration_since(after).unsigned_abs();
    let behind = before.duration_since(theirs).unsigned_abs();
    let difference = if theirs > after {
        ahead
    } else if theirs < before {
        behind
    } else {
        Duration::ZERO
    };
    if difference > CLOCK_DIFFERENCE_MAX {
        return Err(UnreadyReason::ClockDiffers(difference));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use nightdesk_types::SystemClock;

    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_second(secs).unwrap()
    }

    #[test]
    fn a_clock_may_differ_by_five_seconds() {
        let off = |secs| Err(UnreadyReason::ClockDiffers(Duration::from_secs(secs)));
        let cases = [
            ("the same", 100, Ok(())),
            ("five behind", 95, Ok(())),
            ("six behind", 94, off(6)),
            ("five ahead of the answer", 107, Ok(())),
            ("six ahead of the answer", 108, off(6)),
        ];
        for (name, theirs, want) in cases {
            assert_eq!(check_clock(at(100), at(theirs), at(102)), want, "{name}");
        }
    }

    #[tokio::test]
    async fn a_node_is_ready_while_it_has_its_store_and_until_it_stops() {
        let clock = Arc::new(SystemClock::start());
        let readiness = Readiness::new(Arc::<SystemClock>::clone(&clock));
        assert_eq!(readiness.get(), Err(UnreadyReason::Starting));

        let lost = StoreError::unavailable("read the time", "gone");
        readiness.compare_clocks(ready(Err(lost))).await.unwrap_err();
        assert_eq!(readiness.get(), Err(UnreadyReason::StoreLost));
        readiness.compare_clocks(ready(Ok(clock.now()))).await.unwrap();
        assert_eq!(readiness.get(), Ok(()));
        readiness.stop();
        readiness.compare_clocks(ready(Ok(clock.now()))).await.unwrap();
        assert_eq!(readiness.get(), Err(UnreadyReason::Stopping));
    }
}
