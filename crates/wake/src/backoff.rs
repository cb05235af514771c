//! The delay between two calls.

use std::time::Duration;

use nightdesk_types::backoff::Backoff;
use nightdesk_types::limits::{CALL_GAP, CALL_WAIT_FIRST, CALL_WAIT_MAX};

/// Returns the delay after this number of calls: up to a span that doubles with each call, but never less than the gap.
/// `random` is between zero and one and spreads agents that were called together.
pub fn backoff_after(calls: u32, random: f64) -> Duration {
    let most = Backoff { first: CALL_WAIT_FIRST, max: CALL_WAIT_MAX }.after(calls);
    most.mul_f64(random.clamp(0.0, 1.0)).max(CALL_GAP)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn waits_double_up_to_their_bound() {
        let longest: Vec<u64> = (0..=12).map(|calls| backoff_after(calls, 1.0).as_secs()).collect();

        assert_eq!(longest, [15, 15, 15, 15, 16, 32, 64, 128, 256, 512, 600, 600, 600]);
    }

    proptest! {
        // Q11: back-off is bounded and jittered.
        #[test]
        fn a_wait_is_never_too_short_or_too_long(calls in 0_u32.., random in -1.0..2.0) {
            let wait = backoff_after(calls, random);
            prop_assert!((CALL_GAP..=CALL_WAIT_MAX).contains(&wait), "{wait:?}");
        }

        #[test]
        fn late_waits_are_spread_over_all_there_is(random in 0.0..1.0) {
            let wait = backoff_after(20, random);
            let share = wait.as_secs_f64() / CALL_WAIT_MAX.as_secs_f64();
            prop_assert!((share - random).abs() < 0.001 || wait == CALL_GAP, "{share} of {random}");
        }
    }
}
