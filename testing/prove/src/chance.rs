//! Generates pseudorandom numbers that are the same in every run.

use std::time::Duration;

/// Mixes a number so that neighbours are far apart: splitmix64.
pub(crate) const fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Returns an index below `of`, evenly distributed.
pub(crate) fn pick(number: u64, of: usize) -> usize {
    usize::try_from(mix(number) % (of.max(1) as u64)).unwrap_or(0)
}

/// A sequence of numbers that follows from a seed.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Returns the dice of a seed and a consumer.
    pub const fn of(seed: u64, who: u64) -> Self {
        Self(mix(seed ^ mix(who)))
    }

    /// Returns the next number.
    pub const fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    /// Returns an index below `of`.
    pub fn below(&mut self, of: usize) -> usize {
        pick(self.throw(), of)
    }

    /// Returns true with the given probability.
    pub const fn percent(&mut self, percent: u64) -> bool {
        self.throw() % 100 < percent
    }

    /// Puts values into a random order.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }

    /// Returns a duration between the two bounds.
    pub fn between_ms(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(least + self.throw() % (most - least + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_picked_about_as_often() {
        let mut picked = [0_u32; 1_000];
        (0..100_000).for_each(|number| picked[pick(number, 1_000)] += 1);

        assert!(picked.iter().all(|count| (50..200).contains(count)), "{picked:?}");
    }
}
