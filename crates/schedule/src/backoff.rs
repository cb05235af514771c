//! The delay between two tries.

use std::time::Duration;

use nightdesk_types::backoff::Backoff;
use nightdesk_types::limits::{FIRE_RETRY_AFTER_MAX, FIRE_WAIT_FIRST, FIRE_WAIT_MAX};

/// Returns the delay after this number of tries: between half of a span that doubles with each try, and the whole span.
/// A longer `Retry-After` of the agent wins, up to a maximum. `random` is between zero and one and spreads agents that
/// were called together.
pub fn backoff_after(tries: u32, asked: Option<Duration>, random: f64) -> Duration {
    let most = Backoff { first: FIRE_WAIT_FIRST, max: FIRE_WAIT_MAX }.after(tries);
    let wait = most.mul_f64(random.clamp(0.0, 1.0).midpoint(1.0));
    wait.max(asked.unwrap_or_default().min(FIRE_RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn waits_double_up_to_their_bound() {
        let longest: Vec<_> =
            (0..=11).map(|tries| backoff_after(tries, None, 1.0).as_secs()).collect();
        let shortest: Vec<_> =
            (1..=4).map(|tries| backoff_after(tries, None, 0.0).as_secs()).collect();

        assert_eq!(longest, [2, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
        assert_eq!(shortest, [1, 2, 4, 8]);
    }

    #[test]
    fn an_agent_may_ask_for_more_time_but_not_for_less() {
        let secs = Duration::from_secs;
        let cases = [(0, 2), (1, 2), (3, 3), (60, 60), (3_600, 3_600), (3_601, 3_600)];
        for (asked, want) in cases {
            assert_eq!(backoff_after(1, Some(secs(asked)), 1.0), secs(want), "{asked}");
        }
        assert_eq!(backoff_after(20, Some(secs(60)), 1.0), FIRE_WAIT_MAX, "it failed often");
        assert_eq!(backoff_after(1, Some(Duration::MAX), 1.0), HOUR);
    }

    proptest! {
        // Q11: back-off is bounded and jittered.
        #[test]
        fn a_wait_is_never_too_short_or_too_long(
            tries in 0_u32..,
            asked in prop::option::of(0_u64..),
            random in -1.0..2.0,
        ) {
            let asked = asked.map(Duration::from_secs);
            let wait = backoff_after(tries, asked, random);
            prop_assert!((FIRE_WAIT_FIRST / 2..=HOUR).contains(&wait), "{wait:?}");
        }

        #[test]
        fn waits_are_spread_over_half_of_all_there_is(random in 0.0..1.0) {
            let share = backoff_after(20, None, random).as_secs_f64() / FIRE_WAIT_MAX.as_secs_f64();
            prop_assert!((share - 0.5 - random / 2.0).abs() < 0.001, "{share} of {random}");
        }
    }
}
