//! Clock: where time comes from.
//!
//! Wall time is for token and signature windows and for what people read. Every timeout
//! is measured in [`Moment`]s, which no clock jump can move. Leases use database time.

use std::ops::Add;
use std::time::{Duration, Instant};

use jiff::Timestamp;

/// A point on this process's monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// The moment that lies `after` the start of the clock.
    pub const fn after_start(after: Duration) -> Self {
        Self(after)
    }

    /// How long it is since `earlier`; nothing if that lies ahead.
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

/// Tells the time to whoever needs it.
pub trait Clock: Send + Sync {
    /// The wall time, as this process sees it.
    fn now(&self) -> Timestamp;

    /// The monotonic time.
    fn moment(&self) -> Moment;
}

/// The clocks of the machine.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// Starts the monotonic clock.
    pub fn started() -> Self {
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
