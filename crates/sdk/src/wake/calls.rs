//! Calls: which of them are one wake.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::limits::SAME_WAKE;

/// The calls that came and those who wait for them.
#[derive(Debug, Default)]
pub(super) struct Calls {
    heard: Mutex<Heard>,
    bell: Notify,
}

/// What came of the calls so far.
#[derive(Debug, Default)]
struct Heard {
    /// Somebody called, and nobody was woken for it.
    waiting: bool,
    woken_at: Option<Instant>,
}

impl Heard {
    /// Takes a call. One that comes right after a wake belongs to it: whoever was woken has not
    /// even dialled, or is on a line and gets what the call was about.
    fn called(&mut self, now: Instant) {
        let same = self.woken_at.is_some_and(|woken_at| now.duration_since(woken_at) < SAME_WAKE);
        self.waiting |= !same;
    }

    /// Whether to wake somebody now.
    fn wakes(&mut self, now: Instant) -> bool {
        let wakes = std::mem::take(&mut self.waiting);
        if wakes {
            self.woken_at = Some(now);
        }
        wakes
    }
}

impl Calls {
    /// Somebody called.
    pub(super) fn called(&self) {
        self.with(Heard::called);
        // It rings on for who looked just before and does not wait yet.
        self.bell.notify_one();
    }

    /// Waits for a call. Nothing is taken before it returns.
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
