//! Rate limits of calls to platforms.
//!
//! The clock is tokio's, which tests can pause.

use std::hash::Hash;
use std::time::Duration;

use nightdesk_port::CallRate;
use nightdesk_types::Moment;
use nightdesk_types::limits::CALLS_PACED_MAX;
use nightdesk_types::rate_limit::{self, Rate};
use tokio::time::Instant;

/// A rate-limit table by the runtime's clock.
#[derive(Debug)]
pub struct RateLimits<K> {
    table: rate_limit::RateLimiter<K>,
    began: Instant,
}

impl<K: Hash + Eq> Default for RateLimits<K> {
    fn default() -> Self {
        Self { table: rate_limit::RateLimiter::new(CALLS_PACED_MAX), began: Instant::now() }
    }
}

impl<K: Hash + Eq + Clone> RateLimits<K> {
    /// Reserves the next slot and returns its time. `None`: the slot is after `until`, and none is reserved.
    pub fn reserve(&self, key: &K, pace: CallRate, until: Instant) -> Option<Instant> {
        let now = Instant::now();
        let within = until.checked_duration_since(now)?;
        let wait = self.table.reserve(key.clone(), rate_of(pace), self.moment(now), within);
        wait.ok().map(|wait| now + wait)
    }

    /// Takes a slot now, if at most half of the rate is used.
    pub fn take_spare(&self, key: &K, pace: CallRate) -> bool {
        let now = self.now();
        let taken = self.table.change(key.clone(), now, |bucket| {
            let is_spare = bucket.busy(now) <= pace.span / 2;
            if is_spare {
                bucket.take(rate_of(pace), now);
            }
            is_spare
        });
        taken.unwrap_or(false)
    }

    /// Returns true if a slot is free now, without taking it.
    pub fn is_free(&self, key: &K, pace: CallRate) -> bool {
        self.table.bucket(key).wait(rate_of(pace), self.now()).is_zero()
    }

    /// Takes the only slot of a span, if it is free.
    pub fn take_once_per(&self, key: &K, span: Duration) -> bool {
        self.table.take(key.clone(), Rate::per(span, 1), self.now()).is_ok()
    }

    /// Blocks the key for this span.
    pub fn hold(&self, key: &K, pace: CallRate, span: Duration) {
        let now = self.now();
        self.table
            .change(key.clone(), now, |bucket| bucket.hold(now + span + rate_of(pace).ahead()));
    }

    fn now(&self) -> Moment {
        self.moment(Instant::now())
    }

    fn moment(&self, at: Instant) -> Moment {
        Moment::after_start(at - self.began)
    }
}

fn rate_of(pace: CallRate) -> Rate {
    Rate::per(pace.span, pace.calls.get())
}

#[cfg(test)]
mod tests;
