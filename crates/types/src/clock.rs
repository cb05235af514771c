//! Wall time and monotonic time.
//!
//! Wall time is for token and signature windows and for display. Every timeout is measured in [`Moment`]s, which no
//! clock jump can move. Leases use database time.

use std::ops::Add;
use std::time::{Duration, Instant};

use jiff::Timestamp;

/// A point on this process's monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// Returns the moment that lies `after` the start of the clock.
    pub const fn after_start(after: Duration) -> Self {
        Self(after)
    }

    /// Returns the time since `earlier`, or zero if `earlier` lies ahead.
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0 + span)
    }
}

/// A source of time.
pub trait Clock: Send + Sync {
    /// Returns the wall time of this process.
    fn now(&self) -> Timestamp;

    /// Returns the monotonic time.
    fn moment(&self) -> Moment;
}

/// The clocks of the machine.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// Starts the monotonic clock.
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn moment(&self) -> Moment {
        Moment(self.started.elapsed())
    }
}
