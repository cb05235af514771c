//! The desk's only backoff: delays that double, and numbers that spread them.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::time::Duration;

/// Retry delays that double with each failure.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The delay after the first failure.
    pub first: Duration,
    /// The longest delay.
    pub max: Duration,
}

impl Backoff {
    /// Returns the delay after this number of consecutive failures.
    pub fn after(self, failures: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        self.first.saturating_mul(doubled).min(self.max)
    }
}

/// Returns a number between zero and one that spreads delays. A key has the same number in every process, so that a run
/// can be repeated.
#[expect(clippy::cast_precision_loss, reason = "a delay need not be that exact")]
pub fn jitter(key: impl Hash) -> f64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(key) as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_their_bound() {
        let backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(30) };
        let delays = [0, 1, 2, 3, 4, 5, 6, 7, u32::MAX].map(|failures| backoff.after(failures));

        assert_eq!(delays.map(|delay| delay.as_secs()), [1, 1, 2, 4, 8, 16, 30, 30, 30]);
    }

    #[test]
    fn numbers_are_spread_evenly_and_stay_the_same() {
        let numbers: Vec<f64> = (0..1_000).map(jitter).collect();
        let below = |bound| numbers.iter().filter(|number| **number < bound).count();

        assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)));
        for (bound, want) in [(0.1, 100_usize), (0.5, 500), (0.9, 900)] {
            assert!(below(bound).abs_diff(want) < 50, "{bound}");
        }
        assert_eq!(numbers, (0..1_000).map(jitter).collect::<Vec<_>>());
    }
}
