//! The limit on pings, pongs and closes of a client.

use nightdesk_types::Moment;
use nightdesk_types::limits::{CONTROL_FRAMES_MAX, CONTROL_WINDOW};

/// Control frames in the current window.
pub(crate) struct Controls {
    since: Moment,
    count: u32,
}

impl Controls {
    pub(crate) const fn since(now: Moment) -> Self {
        Self { since: now, count: 0 }
    }

    /// Counts one frame. Returns true if it is within the limit.
    pub(crate) fn count(&mut self, now: Moment) -> bool {
        if now.since(self.since) >= CONTROL_WINDOW {
            (self.since, self.count) = (now, 0);
        }
        self.count += 1;
        self.count <= CONTROL_FRAMES_MAX
    }
}
