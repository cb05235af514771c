//! The desk's only rate limiter.
//!
//! The limiter stores one moment per key: the time when all admitted events are worked off (the generic cell rate
//! algorithm). The caller passes in the time.
//!
//! The `governor` crate has the same algorithm, but no reserved turns, holds, or shares of a rate.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Moment;
use crate::limits::PACES_KEPT_MIN;

/// A rate with a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The time that one event occupies.
    step: Duration,
    /// The time by which events may come early, which permits a burst.
    ahead: Duration,
}

impl Rate {
    /// Returns a rate of `count` per `span`, with a burst of `count`.
    pub const fn per(span: Duration, count: u32) -> Self {
        let step = match span.checked_div(count) {
            Some(step) => step,
            None => span,
        };
        Self { step, ahead: step.saturating_mul(count.saturating_sub(1)) }
    }

    /// Returns a rate of `count` per second with this burst.
    pub const fn per_second(count: u32, burst: u32) -> Self {
        Self::per(Duration::from_secs(1), count).with_burst(burst)
    }

    /// Returns the same rate with this burst.
    #[must_use]
    pub const fn with_burst(self, burst: u32) -> Self {
        Self { ahead: self.step.saturating_mul(burst.saturating_sub(1)), ..self }
    }

    /// Returns the share of one of `count` nodes that share this rate.
    #[must_use]
    pub const fn divided_by(self, count: u32) -> Self {
        let count = if count == 0 { 1 } else { count };
        let step = self.step.saturating_mul(count);
        let ahead = self.ahead.saturating_sub(self.step.saturating_mul(count - 1));
        Self { step, ahead }
    }

    /// Returns the time that one event occupies.
    pub const fn step(self) -> Duration {
        self.step
    }

    /// Returns the time by which events may come early.
    pub const fn ahead(self) -> Duration {
        self.ahead
    }
}

/// The rate-limit state of one key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bucket {
    busy_until: Moment,
}

impl Bucket {
    /// Returns the time until all admitted events are worked off.
    pub fn busy(&self, now: Moment) -> Duration {
        self.busy_until.since(now)
    }

    /// Returns the time until the next event is admitted.
    pub fn wait(&self, rate: Rate, now: Moment) -> Duration {
        self.busy(now).saturating_sub(rate.ahead)
    }

    /// Admits one event, also before its turn.
    pub fn take(&mut self, rate: Rate, now: Moment) {
        self.busy_until = self.busy_until.max(now) + rate.step;
    }

    /// Blocks the bucket at least until then.
    pub fn hold(&mut self, until: Moment) {
        self.busy_until = self.busy_until.max(until);
    }
}

/// The state of one key in a rate-limit table.
pub trait RateState: Copy + Default {
    /// Returns true if it equals the initial state, so that the table may drop it.
    fn is_free(&self, now: Moment) -> bool;
}

impl RateState for Bucket {
    fn is_free(&self, now: Moment) -> bool {
        self.busy(now).is_zero()
    }
}

/// A rate-limit table of at most `kept_max` keys. Free keys are dropped while it grows.
#[derive(Debug)]
pub struct RateLimiter<K, S = Bucket> {
    buckets: Mutex<BucketTable<K, S>>,
    kept_max: usize,
}

#[derive(Debug)]
struct BucketTable<K, S> {
    buckets: HashMap<K, S>,
    /// The number of keys at which free ones are dropped.
    shrinks_at: usize,
}

/// Returns the unit in which addresses are counted: for IPv6 the /64, because one subscriber or machine has a whole
/// /64.
pub fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Retry delay when the rate-limit table is full.
pub const NO_ROOM_WAIT: Duration = Duration::from_secs(30);

impl<K: Hash + Eq, S: RateState> RateLimiter<K, S> {
    /// Creates a table of at most `kept_max` keys.
    pub fn new(kept_max: usize) -> Self {
        let kept =
            BucketTable { buckets: HashMap::new(), shrinks_at: kept_max.min(PACES_KEPT_MIN) };
        Self { buckets: Mutex::new(kept), kept_max }
    }

    /// Returns the state of a key.
    pub fn bucket(&self, key: &K) -> S {
        self.lock().buckets.get(key).copied().unwrap_or_default()
    }

    /// Changes the state of a key. `None`: the table is full.
    pub fn change<T>(&self, key: K, now: Moment, change: impl FnOnce(&mut S) -> T) -> Option<T> {
        let kept = &mut *self.lock();
        if kept.buckets.len() >= kept.shrinks_at && !kept.buckets.contains_key(&key) {
            kept.buckets.retain(|_, bucket| !bucket.is_free(now));
            let grown = (kept.buckets.len() * 2).max(PACES_KEPT_MIN);
            kept.shrinks_at = grown.min(self.kept_max);
            if kept.buckets.len() >= self.kept_max {
                return None;
            }
        }
        Some(change(kept.buckets.entry(key).or_default()))
    }

    fn lock(&self) -> MutexGuard<'_, BucketTable<K, S>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq> RateLimiter<K> {
    /// Admits one event now, or returns the retry delay as an error.
    pub fn take(&self, key: K, rate: Rate, now: Moment) -> Result<(), Duration> {
        self.reserve(key, rate, now, Duration::ZERO).map(drop)
    }

    /// Reserves a turn and returns the time until it. `Err`: the wait is longer than `within`, and no turn is reserved.
    pub fn reserve(
        &self,
        key: K,
        rate: Rate,
        now: Moment,
        within: Duration,
    ) -> Result<Duration, Duration> {
        let placed = self.change(key, now, |bucket| {
            let wait = bucket.wait(rate, now);
            if wait > within {
                return Err(wait);
            }
            bucket.take(rate, now);
            Ok(wait)
        });
        placed.unwrap_or(Err(NO_ROOM_WAIT))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the most events that a rate admits in a window of this length.
    fn most_within(rate: Rate, window: Duration) -> u128 {
        1 + (rate.ahead + window).as_nanos() / rate.step.as_nanos().max(1)
    }

    fn at(millis: u64) -> Moment {
        Moment::after_start(Duration::from_millis(millis))
    }

    #[test]
    fn so_many_at_once_and_then_one_by_one() {
        let (paces, rate) = (RateLimiter::new(10), Rate::per(Duration::from_mins(1), 3));
        assert!((0..3).all(|_| paces.take("ann", rate, at(0)).is_ok()));

        assert_eq!(paces.take("ann", rate, at(0)), Err(Duration::from_secs(20)));
        assert_eq!(paces.take("bob", rate, at(0)), Ok(()), "another is not held up");
        assert_eq!(paces.take("ann", rate, at(20_000)), Ok(()));
    }

    #[test]
    fn who_waits_has_a_turn_within_bounds() {
        let (paces, rate) = (RateLimiter::new(10), Rate::per_second(2, 1));
        let place = || paces.reserve("ann", rate, at(0), Duration::from_secs(1));
        let millis = Duration::from_millis;

        assert_eq!(
            [place(), place(), place()],
            [Ok(millis(0)), Ok(millis(500)), Ok(millis(1_000))]
        );
        assert_eq!(place(), Err(millis(1_500)));
        assert_eq!(place(), Err(millis(1_500)), "who has no turn takes none from others");
    }

    #[test]
    fn only_so_many_are_counted() {
        let (paces, rate) = (RateLimiter::new(2), Rate::per(Duration::from_secs(1), 1));
        assert!(paces.take("ann", rate, at(0)).is_ok() && paces.take("bob", rate, at(0)).is_ok());

        assert_eq!(paces.take("eve", rate, at(0)), Err(NO_ROOM_WAIT));
        assert_eq!(paces.take("eve", rate, at(1_000)), Ok(()), "who rested made room");
    }

    #[test]
    fn free_keys_are_dropped_before_the_table_is_full() {
        let (paces, rate) =
            (RateLimiter::new(100 * PACES_KEPT_MIN), Rate::per(Duration::from_secs(1), 1));
        for second in 0..10 {
            for key in 0..PACES_KEPT_MIN {
                assert_eq!(paces.take((second, key), rate, at(second * 1_000)), Ok(()));
            }
        }

        assert!(paces.lock().buckets.len() <= PACES_KEPT_MIN);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        /// Q17. No window has more events than the rate allows, for any arrival times, and three nodes that share a
        /// rate admit no more together than one.
        #[test]
        fn never_over_the_limit_in_any_window(
            count in 1_u32..30,
            burst in 1_u32..30,
            nodes in 1_u32..4,
            steps in prop::collection::vec((0_u64..400, 0_u32..3), 1..120),
        ) {
            let whole = Rate::per_second(count, burst.max(nodes));
            let mut buckets = [Bucket::default(); 3];
            let (mut now, mut let_through) = (1_000_000, Vec::new());
            for (millis, node) in steps {
                now += millis;
                let bucket = &mut buckets[(node % nodes) as usize];
                let share = whole.divided_by(nodes);
                if bucket.wait(share, at(now)).is_zero() {
                    bucket.take(share, at(now));
                    let_through.push(now);
                }
            }
            for (first, from) in let_through.iter().enumerate() {
                for (last, to) in let_through.iter().enumerate().skip(first) {
                    let within = u128::try_from(last - first + 1).unwrap();
                    let window = Duration::from_millis(to - from);
                    prop_assert!(within <= most_within(whole, window));
                }
            }
        }
    }
}
