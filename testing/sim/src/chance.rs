//! Pseudo-random numbers from a seed.

use std::time::Duration;

/// A sequence of numbers: splitmix64.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Returns the sequence of this seed.
    pub const fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns an independent sequence, which other draws do not affect.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from `from` to `to`, both included.
    pub const fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from + 1)
    }

    /// Returns an index into a list of this length.
    pub fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.next() % (length.max(1) as u64)).unwrap_or(0)
    }

    /// Returns one of these.
    pub fn one_of<'a, T>(&mut self, these: &'a [T]) -> &'a T {
        &these[self.place(these.len())]
    }

    /// Returns true with this probability per thousand.
    pub const fn happens(&mut self, per_mille: u64) -> bool {
        self.next() % 1_000 < per_mille
    }

    /// Returns a duration between two limits, in milliseconds.
    pub const fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.between(from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_says_everything_and_a_fork_is_its_own() {
        let row = |mut chance: Chance| [(); 8].map(|()| chance.between(0, 1_000));
        let mut one = Chance::of(7);
        let fork = one.fork();

        assert_eq!(row(Chance::of(7)), row(Chance::of(7)));
        assert_ne!(row(Chance::of(7)), row(Chance::of(8)));
        assert_ne!(row(fork), row(one));
    }

    #[test]
    fn what_happens_sometimes_happens_about_so_often() {
        let mut chance = Chance::of(1);
        let count = (0..10_000).filter(|_| chance.happens(50)).count();

        assert!((400..600).contains(&count), "{count}");
    }
}
