//! The simulated time, which passes only in steps of the simulation.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use nightdesk_testkit::FakeClock;
use nightdesk_types::{Clock, Moment, Timestamp};

thread_local! {
    /// The time of the simulation on this thread, for code outside its hosts.
    static STEPPED_TO: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Returns the elapsed time of the simulation on this thread.
pub fn elapsed() -> Duration {
    turmoil::sim_elapsed().unwrap_or_else(|| STEPPED_TO.get())
}

/// Returns the elapsed time in nanoseconds, the unit of records.
pub fn elapsed_ns() -> u64 {
    u64::try_from(elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Sets the time of the simulation.
pub fn stepped_to(elapsed: Duration) {
    STEPPED_TO.set(elapsed);
}

/// The clock of one machine, whose wall time may be wrong.
#[derive(Clone, Debug, Default)]
pub struct SimClock {
    skew_ms: Arc<AtomicI64>,
}

impl SimClock {
    /// Sets the error of its wall time, or removes it.
    pub fn set_skew_ms(&self, skew_ms: i64) {
        self.skew_ms.store(skew_ms, Ordering::Relaxed);
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        let elapsed_ms = i64::try_from(elapsed().as_millis()).unwrap_or(i64::MAX);
        let began_ms = FakeClock::default().now().as_millisecond();
        let now_ms = began_ms + elapsed_ms + self.skew_ms.load(Ordering::Relaxed);
        Timestamp::from_millisecond(now_ms).unwrap_or(Timestamp::MAX)
    }

    fn moment(&self) -> Moment {
        Moment::after_start(elapsed())
    }
}
