//! Tracks the time since the last work.

use std::time::Duration;

use nightdesk_types::Moment;

/// The time since the last work, besides entries and sends.
#[derive(Debug)]
pub(super) struct IdleTimer {
    sleep_after: Option<Duration>,
    since: Moment,
    /// Guards that the agent's own code holds.
    busy: usize,
}

impl IdleTimer {
    pub(super) const fn never_sleeping(now: Moment) -> Self {
        Self { sleep_after: None, since: now, busy: 0 }
    }

    pub(super) const fn sleep_after(&mut self, quiet_for: Duration) {
        self.sleep_after = Some(quiet_for);
    }

    /// Records work.
    pub(super) const fn record_work(&mut self, now: Moment) {
        self.since = now;
    }

    /// Sets the number of guards that the agent's own code holds.
    pub(super) const fn set_busy(&mut self, held: usize) {
        self.busy = held;
    }

    /// Returns the time at which it has been quiet for long enough. `None`: it may not sleep.
    pub(super) fn sleep_at(&self) -> Option<Moment> {
        let sleep_after = self.sleep_after.filter(|_| self.busy == 0)?;
        Some(self.since + sleep_after)
    }
}
