//! Quiet: since when there was no work.

use std::time::Duration;

use nightdesk_types::Moment;

/// Since when there was no work, as far as entries and sends do not say.
#[derive(Debug)]
pub(super) struct Quiet {
    sleep_after: Option<Duration>,
    since: Moment,
    /// Guards that the agent's own code holds.
    busy: usize,
}

impl Quiet {
    pub(super) const fn never_sleeping(now: Moment) -> Self {
        Self { sleep_after: None, since: now, busy: 0 }
    }

    pub(super) const fn sleep_after(&mut self, quiet_for: Duration) {
        self.sleep_after = Some(quiet_for);
    }

    /// There was work just now.
    pub(super) const fn stirred(&mut self, now: Moment) {
        self.since = now;
    }

    /// The agent's own code holds so many guards now.
    pub(super) const fn busy(&mut self, held: usize) {
        self.busy = held;
    }

    /// When it has been quiet for long enough, if it ever is.
    pub(super) fn sleep_at(&self) -> Option<Moment> {
        let sleep_after = self.sleep_after.filter(|_| self.busy == 0)?;
        Some(self.since + sleep_after)
    }
}
