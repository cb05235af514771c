//! The retry delays after failures to listen.

use std::time::Duration;

use nightdesk_port::ListenError;
use nightdesk_types::backoff::Backoff;
use nightdesk_types::limits::{
    GAP_TRIES_MAX, LISTEN_AGAIN_MAX, LISTEN_AGAIN_MIN, LISTEN_KEYLESS_EVERY, RATE_LIMITED_MAX,
    RATE_LIMITED_MIN,
};

use super::ListenFailure;

const AGAIN: Backoff = Backoff { first: LISTEN_AGAIN_MIN, max: LISTEN_AGAIN_MAX };

/// Counts consecutive failures.
#[derive(Debug, Default)]
pub(super) struct ListenBackoff {
    failures: u32,
}

impl ListenBackoff {
    /// Resets the count after a success, even if no event arrived.
    pub(super) const fn reset(&mut self) {
        self.failures = 0;
    }

    /// Returns true if this is the last try, after which the desk continues without the missing messages.
    pub(super) const fn is_last_try(&self) -> bool {
        self.failures + 1 >= GAP_TRIES_MAX
    }

    /// Counts a failure and returns the retry delay.
    pub(super) fn next_delay(&mut self, error: &ListenFailure) -> Duration {
        self.failures = self.failures.saturating_add(1);
        match error {
            ListenFailure::Platform(ListenError::RateLimited { retry_after }) => {
                (*retry_after).clamp(RATE_LIMITED_MIN, RATE_LIMITED_MAX)
            }
            ListenFailure::Platform(ListenError::KeyRejected | ListenError::Barred { .. }) => {
                LISTEN_KEYLESS_EVERY
            }
            ListenFailure::Platform(ListenError::Elsewhere | ListenError::Unavailable(_))
            | ListenFailure::Store(_) => AGAIN.after(self.failures),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away() -> ListenFailure {
        ListenError::Unavailable("away".into()).into()
    }

    #[test]
    fn it_grows_up_to_its_end_and_is_forgotten_when_something_is_heard() {
        let mut patience = ListenBackoff::default();
        let waits: Vec<u64> = (0..7).map(|_| patience.next_delay(&away()).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        for _ in 0..100 {
            assert!(patience.next_delay(&away()) <= LISTEN_AGAIN_MAX);
        }

        patience.reset();
        assert_eq!(patience.next_delay(&away()), LISTEN_AGAIN_MIN);
    }

    #[test]
    fn a_platform_that_says_when_is_asked_then() {
        let limited = |secs| ListenError::RateLimited { retry_after: Duration::from_secs(secs) };
        let cases = [
            (limited(7), Duration::from_secs(7)),
            (limited(0), RATE_LIMITED_MIN),
            (limited(1_000_000), RATE_LIMITED_MAX),
            (ListenError::KeyRejected, LISTEN_KEYLESS_EVERY),
            (ListenError::Elsewhere, LISTEN_AGAIN_MIN),
        ];
        for (error, want) in cases {
            assert_eq!(ListenBackoff::default().next_delay(&error.into()), want);
        }
    }
}
