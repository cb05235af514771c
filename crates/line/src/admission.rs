//! Limits on authenticated dials: on concurrent store calls, and on the rate at which dials become lines.
//!
//! When a node dies, its clients reconnect at the same time: the stock client uses fixed retry delays without jitter.
//! Each dial gets a place in order of arrival. A dial that would wait longer than a client does gets a retry response.
//! Only known gateways get places, so that other callers cannot use them up.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nightdesk_types::limits::{
    DIAL_ADMITTED_WITHIN, DIALS_AT_ONCE_MAX, DIALS_BURST, DIALS_PER_SECOND,
};
use nightdesk_types::rate_limit::{Bucket, Rate};
use nightdesk_types::{Clock, Moment};
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// The rate with a burst for the unused capacity of the last moments.
const RATE: Rate = Rate::per_second(DIALS_PER_SECOND, DIALS_BURST + 1);

/// Limits on authenticated dials: [`DIALS_AT_ONCE_MAX`] concurrent store calls, and a rate of new lines.
#[derive(Debug)]
pub struct DialLimits {
    asking: Semaphore,
    places: Mutex<Bucket>,
}

impl Default for DialLimits {
    fn default() -> Self {
        Self { asking: Semaphore::new(DIALS_AT_ONCE_MAX), places: Mutex::default() }
    }
}

impl DialLimits {
    /// Runs a store call of an authenticated dial when its turn has come.
    pub async fn run_in_turn<T>(&self, ask: impl Future<Output = T>) -> T {
        // The semaphore is never closed, so a permit always comes.
        let _place = self.asking.acquire().await.ok();
        ask.await
    }

    /// Waits until a dial may become a line. Returns false if the client should retry.
    pub async fn wait_for_place(&self, arrived: Moment, clock: &dyn Clock) -> bool {
        match self.reserve_place(arrived, clock.moment()) {
            Some(Duration::ZERO) => true,
            Some(wait) => {
                sleep(wait).await;
                true
            }
            None => false,
        }
    }

    /// Reserves a place for a dial that came at `arrived` and returns the wait from now. `None`: the wait is too long,
    /// and the client should retry.
    pub fn reserve_place(&self, arrived: Moment, now: Moment) -> Option<Duration> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = places.wait(RATE, now);
        if (now + wait).since(arrived) > DIAL_ADMITTED_WITHIN {
            return None;
        }
        places.take(RATE, now);
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const STEP: Duration = Duration::from_nanos(1_000_000_000 / DIALS_PER_SECOND as u64);

    fn at(millis: u64) -> Moment {
        Moment::after_start(Duration::from_millis(millis))
    }

    /// Returns the wait of each of `dials` dials that come at the same time.
    fn herd(limits: &DialLimits, dials: u32, now: Moment) -> Vec<Option<Duration>> {
        (0..dials).map(|_| limits.reserve_place(now, now)).collect()
    }

    #[test]
    fn a_few_dials_wait_for_nothing() {
        let limits = DialLimits::default();

        for now in [at(5_000), at(60_000)] {
            let waits = herd(&limits, DIALS_BURST + 1, now);
            assert!(waits.iter().all(|wait| *wait == Some(Duration::ZERO)), "{waits:?}");
        }
    }

    #[test]
    fn a_herd_comes_in_at_its_rate() {
        let limits = DialLimits::default();
        let waits = herd(&limits, 4 * DIALS_PER_SECOND, at(60_000));

        for second in 0..3 {
            let within =
                |wait: &Duration| *wait > second * SECOND && *wait <= (second + 1) * SECOND;
            let came = waits.iter().flatten().filter(|wait| within(wait)).count();
            assert_eq!(came, DIALS_PER_SECOND as usize, "second {second}");
        }
    }

    #[test]
    fn who_would_wait_for_too_long_takes_no_place() {
        let limits = DialLimits::default();
        let waits = herd(&limits, 100 * DIALS_PER_SECOND, at(60_000));

        let last = waits.iter().flatten().max().copied();
        assert_eq!(last, Some(DIAL_ADMITTED_WITHIN));
        assert!(waits.last().is_some_and(Option::is_none));
        let later = at(60_000 + 1_000);
        let waits = limits.reserve_place(later, later).map(|waits| waits + SECOND);
        assert_eq!(waits, Some(DIAL_ADMITTED_WITHIN + STEP));
    }

    #[test]
    fn what_a_dial_has_waited_before_counts() {
        let limits = DialLimits::default();
        herd(&limits, DIALS_BURST + 1 + DIALS_PER_SECOND, at(60_000));

        let waited = DIAL_ADMITTED_WITHIN.as_millis().try_into().unwrap_or(0);
        assert_eq!(limits.reserve_place(at(60_000 - waited), at(60_000)), None);
        assert_eq!(limits.reserve_place(at(60_000), at(60_000)), Some(SECOND + STEP));
    }
}
