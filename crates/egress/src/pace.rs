//! Rate limits of calls to platforms.
//!
//! The clock is tokio's, which tests can pause.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nightdesk_port::Pace;
use nightdesk_types::Moment;
use nightdesk_types::limits::PACES_KEPT_MIN;
use nightdesk_types::pace::{Bucket, Rate};
use tokio::time::Instant;

/// A rate-limit table. Free keys are removed.
#[derive(Debug)]
pub struct Paces<K: Hash + Eq> {
    kept: Mutex<Kept<K>>,
    began: Instant,
}

#[derive(Debug)]
struct Kept<K> {
    buckets: HashMap<K, Bucket>,
    /// The size at which free keys are removed.
    shrinks_at: usize,
}

impl<K: Hash + Eq> Default for Paces<K> {
    fn default() -> Self {
        let kept = Kept { buckets: HashMap::new(), shrinks_at: PACES_KEPT_MIN };
        Self { kept: Mutex::new(kept), began: Instant::now() }
    }
}

impl<K: Hash + Eq + Clone> Paces<K> {
    /// Reserves the next slot and returns its time. `None`: the slot is after `until`, and none is reserved.
    pub fn reserve(&self, key: &K, pace: Pace, until: Instant) -> Option<Instant> {
        let (rate, now) = (rate(pace), self.now());
        let mut kept = self.lock();
        let mut bucket = kept.of(key);
        let at = self.began + now.since(Moment::default()) + bucket.wait(rate, now);
        if at > until {
            return None;
        }
        bucket.take(rate, now);
        kept.keep(key, bucket, now);
        Some(at)
    }

    /// Takes a slot now, if at most half of the rate is used.
    pub fn take_spare(&self, key: &K, pace: Pace) -> bool {
        let now = self.now();
        let mut kept = self.lock();
        let mut bucket = kept.of(key);
        let is_spare = bucket.busy(now) <= pace.span / 2;
        if is_spare {
            bucket.take(rate(pace), now);
            kept.keep(key, bucket, now);
        }
        is_spare
    }

    /// Returns true if a slot is free now, without taking it.
    pub fn is_free(&self, key: &K, pace: Pace) -> bool {
        self.lock().of(key).wait(rate(pace), self.now()).is_zero()
    }

    /// Takes the only slot of a span, if it is free.
    pub fn once_in(&self, key: &K, span: Duration) -> bool {
        let now = self.now();
        let mut kept = self.lock();
        let mut bucket = kept.of(key);
        let is_free = bucket.is_free(now);
        if is_free {
            bucket.hold(now + span);
            kept.keep(key, bucket, now);
        }
        is_free
    }

    /// Blocks the key for this span.
    pub fn hold(&self, key: &K, pace: Pace, span: Duration) {
        let now = self.now();
        let mut kept = self.lock();
        let mut bucket = kept.of(key);
        bucket.hold(now + span + rate(pace).ahead());
        kept.keep(key, bucket, now);
    }

    fn now(&self) -> Moment {
        Moment::after_start(self.began.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Kept<K>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone> Kept<K> {
    fn of(&self, key: &K) -> Bucket {
        self.buckets.get(key).copied().unwrap_or_default()
    }

    fn keep(&mut self, key: &K, bucket: Bucket, now: Moment) {
        if self.buckets.len() >= self.shrinks_at {
            self.buckets.retain(|_, bucket| !bucket.is_free(now));
            self.shrinks_at = PACES_KEPT_MIN.max(self.buckets.len() * 2);
        }
        self.buckets.insert(key.clone(), bucket);
    }
}

fn rate(pace: Pace) -> Rate {
    Rate::per(pace.span, pace.calls.get())
}

#[cfg(test)]
mod tests;
