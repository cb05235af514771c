//! Decides which calls belong to one wake.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::limits::SAME_WAKE;

/// The received calls and the waiting tasks.
#[derive(Debug, Default)]
pub(super) struct WakeCalls {
    heard: Mutex<WakeCallState>,
    bell: Notify,
}

/// The state of the received calls.
#[derive(Debug, Default)]
struct WakeCallState {
    /// True if a call arrived that woke no task yet.
    waiting: bool,
    woken_at: Option<Instant>,
}

impl WakeCallState {
    /// Takes a call. A call directly after a wake belongs to it: the woken agent has not dialled yet, or is on a line
    /// and gets the entry of the call.
    fn record_call(&mut self, now: Instant) {
        let same = self.woken_at.is_some_and(|woken_at| now.duration_since(woken_at) < SAME_WAKE);
        self.waiting |= !same;
    }

    /// Returns true if a task is to be woken now.
    fn take_wake(&mut self, now: Instant) -> bool {
        let wakes = std::mem::take(&mut self.waiting);
        if wakes {
            self.woken_at = Some(now);
        }
        wakes
    }
}

impl WakeCalls {
    /// Takes a call.
    pub(super) fn record_call(&self) {
        self.update(WakeCallState::record_call);
        // The notification is stored for a task that checked just before and does not wait yet.
        self.bell.notify_one();
    }

    /// Waits for a call. The call is consumed only when this returns.
    pub(super) async fn wait_for_call(&self) {
        while !self.update(WakeCallState::take_wake) {
            self.bell.notified().await;
        }
    }

    fn update<T>(&self, act: impl FnOnce(&mut WakeCallState, Instant) -> T) -> T {
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
        let mut heard = WakeCallState::default();
        let after = |span: Duration| began + span;
        assert!(!heard.take_wake(began), "nobody called");

        for _ in 0..100 {
            heard.record_call(began);
        }
        assert!(heard.take_wake(began));
        heard.record_call(after(SAME_WAKE.mul_f32(0.9)));
        assert!(!heard.take_wake(after(SAME_WAKE.mul_f32(0.9))), "the rest of the burst");
        heard.record_call(after(SAME_WAKE));
        assert!(heard.take_wake(after(SAME_WAKE)), "another");
    }

    #[tokio::test]
    async fn a_call_is_kept_until_somebody_waits_for_it() {
        let calls = WakeCalls::default();
        calls.record_call();

        let mut dropped = Box::pin(calls.wait_for_call());
        calls.record_call();
        assert!(futures_util::poll!(&mut dropped).is_ready());
        assert!(futures_util::poll!(Box::pin(calls.wait_for_call())).is_pending(), "one wake");
    }
}
