//! Rate limits of calls to platforms.
//!
//! The clock is tokio's, which tests can pause.

use std::hash::Hash;
use std::time::Duration;

use nightdesk_port::Pace;
use nightdesk_types::Moment;
use nightdesk_types::limits::CALLS_PACED_MAX;
use nightdesk_types::pace::{self, Rate};
use tokio::time::Instant;

/// A rate-limit table by the runtime's clock.
#[derive(Debug)]
pub struct Paces<K> {
    table: pace::Paces<K>,
    began: Instant,
}

impl<K: Hash + Eq> Default for Paces<K> {
    fn default() -> Self {
        Self { table: pace::Paces::of(CALLS_PACED_MAX), began: Instant::now() }
    }
}

impl<K: Hash + Eq + Clone> Paces<K> {
    /// Reserves the next slot and returns its time. `None`: the slot is after `until`, and none is reserved.
    pub fn reserve(&self, key: &K, pace: Pace, until: Instant) -> Option<Instant> {
        let now = Instant::now();
        let within = until.checked_duration_since(now)?;
        let wait = self.table.place(key.clone(), rate(pace), self.moment(now), within);
        wait.ok().map(|wait| now + wait)
    }

    /// Takes a slot now, if at most half of the rate is used.
    pub fn take_spare(&self, key: &K, pace: Pace) -> bool {
        let now = self.now();
        let taken = self.table.change(key.clone(), now, |bucket| {
            let is_spare = bucket.busy(now) <= pace.span / 2;
            if is_spare {
                bucket.take(rate(pace), now);
            }
            is_spare
        });
        taken.unwrap_or(false)
    }

    /// Returns true if a slot is free now, without taking it.
    pub fn is_free(&self, key: &K, pace: Pace) -> bool {
        self.table.bucket(key).wait(rate(pace), self.now()).is_zero()
    }

    /// Takes the only slot of a span, if it is free.
    pub fn once_in(&self, key: &K, span: Duration) -> bool {
        self.table.take(key.clone(), Rate::per(span, 1), self.now()).is_ok()
    }

    /// Blocks the key for this span.
    pub fn hold(&self, key: &K, pace: Pace, span: Duration) {
        let now = self.now();
        self.table.change(key.clone(), now, |bucket| bucket.hold(now + span + rate(pace).ahead()));
    }

    fn now(&self) -> Moment {
        self.moment(Instant::now())
    }

    fn moment(&self, at: Instant) -> Moment {
        Moment::after_start(at - self.began)
    }
}

fn rate(pace: Pace) -> Rate {
    Rate::per(pace.span, pace.calls.get())
}

#[cfg(test)]
mod tests;
