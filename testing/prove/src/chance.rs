//! Chance: numbers that look random and are the same in every run.

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
