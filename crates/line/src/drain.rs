//! Spreads the close of a stopping node's lines, so that their clients do not dial the other nodes at the same time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nightdesk_types::limits::{LEAVE_SPREAD, LEAVE_STEP};

/// Assigns the turns in which lines close.
#[derive(Debug, Default)]
pub struct DrainOrder(AtomicU32);

impl DrainOrder {
    /// Returns the time that the next of `lines` lines stays open.
    pub(crate) fn next_delay(&self, lines: usize) -> Duration {
        let turn = self.0.fetch_add(1, Ordering::Relaxed);
        let lines = u32::try_from(lines.max(1)).unwrap_or(u32::MAX);
        (LEAVE_STEP.min(LEAVE_SPREAD / lines) * turn).min(LEAVE_SPREAD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_of(lines: usize) -> Duration {
        let leaving = DrainOrder::default();
        (0..lines).map(|_| leaving.next_delay(lines)).max().unwrap_or_default()
    }

    #[test]
    fn few_lines_leave_at_once_and_many_within_the_spread() {
        assert_eq!(DrainOrder::default().next_delay(1), Duration::ZERO);
        assert_eq!(last_of(11), LEAVE_STEP * 10);
        assert!(last_of(100_000) <= LEAVE_SPREAD);
        assert!(last_of(100_000) > LEAVE_SPREAD / 2, "not all of them early");
    }
}
