//! Schedules steps at an even rate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Evenly spaced turns, shared by any number of tasks.
#[derive(Debug)]
pub(crate) struct Pace {
    began: Instant,
    every: Duration,
    next: AtomicU64,
    turns: AtomicU64,
}

impl Pace {
    /// Returns a pace of `turns` turns at this rate.
    pub(crate) fn of(turns: u64, per_second: u32) -> Self {
        let every = Duration::from_secs(1) / per_second.max(1);
        Self { began: Instant::now(), every, next: AtomicU64::new(0), turns: AtomicU64::new(turns) }
    }

    /// Waits for the next turn. Returns its number from zero, or `None` when there are no more.
    pub(crate) async fn turn(&self) -> Option<u64> {
        let nth = self.next.fetch_add(1, Ordering::Relaxed);
        if !self.has(nth) {
            return None;
        }
        let after = self.every.checked_mul(u32::try_from(nth).ok()?)?;
        sleep_until(self.began + after).await;
        self.has(nth).then_some(nth)
    }

    /// Ends the turns.
    pub(crate) fn end(&self) {
        self.turns.store(0, Ordering::Relaxed);
    }

    fn has(&self, nth: u64) -> bool {
        nth < self.turns.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_come_evenly_and_end() {
        let pace = Pace::of(4, 2);
        let mut at = Vec::new();
        while let Some(nth) = pace.turn().await {
            at.push((nth, pace.began.elapsed().as_millis()));
        }
        assert_eq!(at, [(0, 0), (1, 500), (2, 1_000), (3, 1_500)]);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_when_it_ends_has_no_turn() {
        let pace = Pace::of(u64::MAX, 1);
        assert_eq!(pace.turn().await, Some(0));
        let (turn, ()) = tokio::join!(pace.turn(), async { pace.end() });
        assert_eq!(turn, None);
    }
}
