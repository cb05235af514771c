//! Computes the backoff before the next dial.

use std::time::Duration;

use crate::limits::{LADDER_FIRST, LADDER_TOP, LIVED, RESTART_SPREAD, REVOCATIONS_MAX};

/// The current backoff step, and the random state.
#[derive(Debug)]
pub(super) struct Ladder {
    climbed: u32,
    revocations: u32,
    dice: u64,
}

impl Ladder {
    pub(super) const fn new(dice: u64) -> Self {
        Self { climbed: 0, revocations: 0, dice }
    }

    /// Records the life of an ended line. A line that was dropped at once does not reset the backoff.
    pub(super) fn lived(&mut self, open_for: Duration) {
        if open_for >= LIVED {
            (self.climbed, self.revocations) = (0, 0);
        }
    }

    /// Returns a random delay between zero and the whole step, so that dials do not coincide.
    pub(super) fn rest(&mut self) -> Duration {
        let most = self.climb();
        self.up_to(most)
    }

    /// Returns the delay after a restart, when all other agents dial too.
    pub(super) fn rest_after_restart(&mut self) -> Duration {
        let most = self.climb().max(RESTART_SPREAD);
        self.up_to(most)
    }

    /// Counts a revocation close. Returns true if the revocation is proven.
    pub(super) fn revoked(&mut self) -> bool {
        self.revocations += 1;
        self.revocations >= REVOCATIONS_MAX
    }

    fn climb(&mut self) -> Duration {
        let most = LADDER_FIRST.saturating_mul(1 << self.climbed.min(16)).min(LADDER_TOP);
        self.climbed = self.climbed.saturating_add(1);
        most
    }

    fn up_to(&mut self, most: Duration) -> Duration {
        /// The resolution of the spread.
        const PARTS: u32 = 1 << 16;
        let part = u32::try_from(self.rolled() >> 48).unwrap_or_default();
        most * part / PARTS
    }

    /// Returns the next number of splitmix64: evenly spread for any seed, and not security-relevant.
    fn rolled(&mut self) -> u64 {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.dice ^ (self.dice >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_are_spread_over_a_step_that_doubles_to_its_top() {
        let longest = |step: usize| {
            let nth = |seed| {
                let mut ladder = Ladder::new(seed);
                (0..=step).map(|_| ladder.rest()).last().unwrap()
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
        let mut ladder = Ladder::new(1);
        for _ in 0..5 {
            ladder.rest();
        }

        ladder.lived(LIVED.mul_f32(0.99));
        assert_eq!(ladder.climb(), LADDER_TOP);
        ladder.lived(LIVED);
        assert_eq!(ladder.climb(), LADDER_FIRST);
    }
}
