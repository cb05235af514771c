//! Decides which calls belong to one wake.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::limits::SAME_WAKE;

/// The received calls and the waiting tasks.
#[derive(Debug, Default)]
pub(super) struct Calls {
    heard: Mutex<Heard>,
    bell: Notify,
}

/// The state of the received calls.
#[derive(Debug, Default)]
struct Heard {
    /// True if a call arrived that woke no task yet.
    waiting: bool,
    woken_at: Option<Instant>,
}

impl Heard {
    /// Takes a call. A call directly after a wake belongs to it: the woken agent has not dialled yet, or is on a line
    /// and gets the entry of the call.
    fn called(&mut self, now: Instant) {
        let same = self.woken_at.is_some_and(|woken_at| now.duration_since(woken_at) < SAME_WAKE);
        self.waiting |= !same;
    }

    /// Returns true if a task is to be woken now.
    fn wakes(&mut self, now: Instant) -> bool {
        let wakes = std::mem::take(&mut self.waiting);
        if wakes {
            self.woken_at = Some(now);
        }
        wakes
    }
}

impl Calls {
    /// Takes a call.
    pub(super) fn called(&self) {
        self.with(Heard::called);
        // The notification is stored for a task that checked just before and does not wait yet.
        self.bell.notify_one();
    }

    /// Waits for a call. The call is consumed only when this returns.
    pub(super) async fn woken(&self) {
        while !self.with(Heard::wakes) {
            self.bell.notified().await;
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Heard, Instant) -> T) -> T {
        act(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner), Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_is_one_wake_and_a_later_call_another() {
        let began = Instant::now();
        let mut heard = Heard::default();
        let after = |span: Duration| began + span;
        assert!(!heard.wakes(began), "nobody called");

        for _ in 0..100 {
            heard.called(began);
        }
        assert!(heard.wakes(began));
        heard.called(after(SAME_WAKE.mul_f32(0.9)));
        assert!(!heard.wakes(after(SAME_WAKE.mul_f32(0.9))), "the rest of the burst");
        heard.called(after(SAME_WAKE));
        assert!(heard.wakes(after(SAME_WAKE)), "another");
    }

    #[tokio::test]
    async fn a_call_is_kept_until_somebody_waits_for_it() {
        let calls = Calls::default();
        calls.called();

        let mut dropped = Box::pin(calls.woken());
        calls.called();
        assert!(futures_util::poll!(&mut dropped).is_ready());
        assert!(futures_util::poll!(Box::pin(calls.woken())).is_pending(), "one wake");
    }
}
