//! Computes the backoff before the next dial.

use std::time::Duration;

use nightdesk_types::backoff::{Backoff, jitter};

use crate::limits::{LADDER_FIRST, LADDER_TOP, LIVED, RESTART_SPREAD, REVOCATIONS_MAX};

/// The current backoff step, and the source of its jitter.
#[derive(Debug)]
pub(super) struct DialBackoff {
    climbed: u32,
    revocations: u32,
    seed: u64,
    rests: u64,
}

impl DialBackoff {
    pub(super) const fn new(seed: u64) -> Self {
        Self { climbed: 0, revocations: 0, seed, rests: 0 }
    }

    /// Records the life of an ended line. A line that was dropped at once does not reset the backoff.
    pub(super) fn record_line(&mut self, open_for: Duration) {
        if open_for >= LIVED {
            (self.climbed, self.revocations) = (0, 0);
        }
    }

    /// Returns a random delay between zero and the whole step, so that dials do not coincide.
    pub(super) fn next_delay(&mut self) -> Duration {
        let most = self.climb();
        self.random_up_to(most)
    }

    /// Returns the delay after a restart, when all other agents dial too.
    pub(super) fn rest_after_restart(&mut self) -> Duration {
        let most = self.climb().max(RESTART_SPREAD);
        self.random_up_to(most)
    }

    /// Counts a revocation close. Returns true if the revocation is proven.
    pub(super) fn count_revocation(&mut self) -> bool {
        self.revocations += 1;
        self.revocations >= REVOCATIONS_MAX
    }

    fn climb(&mut self) -> Duration {
        self.climbed = self.climbed.saturating_add(1);
        Backoff { first: LADDER_FIRST, max: LADDER_TOP }.after(self.climbed)
    }

    fn random_up_to(&mut self, most: Duration) -> Duration {
        self.rests = self.rests.wrapping_add(1);
        most.mul_f64(jitter((self.seed, self.rests)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_are_spread_over_a_step_that_doubles_to_its_top() {
        let longest = |step: usize| {
            let nth = |seed| {
                let mut ladder = DialBackoff::new(seed);
                (0..=step).map(|_| ladder.next_delay()).last().unwrap()
            };
            let rests: Vec<Duration> = (0..500).map(nth).collect();
            assert!(rests.iter().any(|rest| *rest < rests.iter().max().unwrap().div_f32(10.0)));
            rests.into_iter().max().unwrap()
        };

        for (step, top) in [1, 2, 4, 8, 16, 30, 30, 30].into_iter().enumerate() {
            let (longest, top) = (longest(step), Duration::from_secs(top));
            assert!(longest <= top && longest > top.mul_f32(0.9), "step {step}: {longest:?}");
        }
    }

    #[test]
    fn only_a_line_that_lived_begins_the_ladder_anew() {
        let mut ladder = DialBackoff::new(1);
        for _ in 0..5 {
            ladder.next_delay();
        }

        ladder.record_line(LIVED.mul_f32(0.99));
        assert_eq!(ladder.climb(), LADDER_TOP);
        ladder.record_line(LIVED);
        assert_eq!(ladder.climb(), LADDER_FIRST);
    }
}
