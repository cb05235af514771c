//! Provides a clock that advances only on request.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nightdesk_types::{Clock, Moment, Timestamp};

/// Noon of a day, so that a few hours pass without a midnight. The day is long past: code that compares this clock with
/// the system's fails on every day alike, and not only from some day on.
const STARTED_AT: Timestamp = Timestamp::constant(1_577_880_000, 0);

/// A clock that advances only on request. Its clones share the time.
#[derive(Clone, Debug, Default)]
pub struct FakeClock {
    passed: Arc<Mutex<Duration>>,
}

impl FakeClock {
    /// Advances the clock.
    pub fn let_pass(&self, span: Duration) {
        *self.passed.lock().unwrap_or_else(PoisonError::into_inner) += span;
    }

    fn passed(&self) -> Duration {
        *self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        // A test that waits for thousands of years gets no further than the last moment.
        STARTED_AT.checked_add(self.passed()).unwrap_or(Timestamp::MAX)
    }

    fn moment(&self) -> Moment {
        Moment::after_start(self.passed())
    }
}
