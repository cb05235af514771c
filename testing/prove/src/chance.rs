//! Chance: numbers that look random and are the same in every run.

use std::time::Duration;

/// Mixes a number so that neighbours are far apart: splitmix64.
pub(crate) const fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// One of so many, each as often as the others.
pub(crate) fn pick(number: u64, of: usize) -> usize {
    usize::try_from(mix(number) % (of.max(1) as u64)).unwrap_or(0)
}

/// Numbers one after the other, all of which follow from the first.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed and whoever throws them.
    pub const fn of(seed: u64, who: u64) -> Self {
        Self(mix(seed ^ mix(who)))
    }

    /// The next number.
    pub const fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    /// One of so many.
    pub fn below(&mut self, of: usize) -> usize {
        pick(self.throw(), of)
    }

    /// Whether something happens that does so often.
    pub const fn percent(&mut self, percent: u64) -> bool {
        self.throw() % 100 < percent
    }

    /// A time between two.
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
