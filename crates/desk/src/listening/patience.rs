//! The retry delays after failures to listen.

use std::time::Duration;

use nightdesk_port::ListenError;
use nightdesk_types::backoff::Backoff;
use nightdesk_types::limits::{
    GAP_TRIES_MAX, LISTEN_AGAIN_MAX, LISTEN_AGAIN_MIN, LISTEN_KEYLESS_EVERY, RATE_LIMITED_MAX,
    RATE_LIMITED_MIN,
};

use super::Unheard;

const AGAIN: Backoff = Backoff { first: LISTEN_AGAIN_MIN, max: LISTEN_AGAIN_MAX };

/// Counts consecutive failures.
#[derive(Debug, Default)]
pub(super) struct Patience {
    failures: u32,
}

impl Patience {
    /// Resets the count after a success, even if no event arrived.
    pub(super) const fn heard(&mut self) {
        self.failures = 0;
    }

    /// Returns true if this is the last try, after which the desk continues without the missing messages.
    pub(super) const fn is_at_its_end(&self) -> bool {
        self.failures + 1 >= GAP_TRIES_MAX
    }

    /// Counts a failure and returns the retry delay.
    pub(super) fn after(&mut self, error: &Unheard) -> Duration {
        self.failures = self.failures.saturating_add(1);
        match error {
            Unheard::Platform(ListenError::RateLimited { retry_after }) => {
                (*retry_after).clamp(RATE_LIMITED_MIN, RATE_LIMITED_MAX)
            }
            Unheard::Platform(ListenError::KeyRejected | ListenError::Barred { .. }) => {
                LISTEN_KEYLESS_EVERY
            }
            Unheard::Platform(ListenError::Elsewhere | ListenError::Unavailable(_))
            | Unheard::Store(_) => AGAIN.after(self.failures),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away() -> Unheard {
        ListenError::Unavailable("away".into()).into()
    }

    #[test]
    fn it_grows_up_to_its_end_and_is_forgotten_when_something_is_heard() {
        let mut patience = Patience::default();
        let waits: Vec<u64> = (0..7).map(|_| patience.after(&away()).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        for _ in 0..100 {
            assert!(patience.after(&away()) <= LISTEN_AGAIN_MAX);
        }

        patience.heard();
        assert_eq!(patience.after(&away()), LISTEN_AGAIN_MIN);
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
            assert_eq!(Patience::default().after(&error.into()), want);
        }
    }
}
