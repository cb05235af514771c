//! A delay that ends early when the node stops.

use std::time::Duration;

use nightdesk_types::limits::STOP_NOTICED_WITHIN;
use tokio::time::{Instant, sleep};
use tokio_util::task::TaskTracker;

/// Waits for this time unless the node stops. Returns true if the node continues.
pub(crate) async fn pause(tasks: &TaskTracker, span: Duration) -> bool {
    let until = Instant::now() + span;
    while !tasks.is_closed() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        sleep(left.min(STOP_NOTICED_WITHIN)).await;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_pause_ends_with_the_node() {
        let (tasks, began) = (TaskTracker::new(), Instant::now());
        assert!(pause(&tasks, Duration::from_secs(10)).await);
        assert_eq!(began.elapsed(), Duration::from_secs(10));
        tasks.close();
        assert!(!pause(&tasks, Duration::from_secs(10)).await);
        assert_eq!(began.elapsed(), Duration::from_secs(10));
    }
}
