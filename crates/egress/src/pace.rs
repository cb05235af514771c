//! Pace: how fast a platform may be spoken to.
//!
//! For each key one moment is kept: when everything that was let through has been worked off
//! (the generic cell rate algorithm). It lives by tokio's time, which tests can pause.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nightdesk_port::Pace;
use nightdesk_types::limits::PACES_KEPT_MIN;
use tokio::time::Instant;

/// How busy each of many things is. Those that are free are not kept.
#[derive(Debug)]
pub struct Paces<K: Hash + Eq> {
    kept: Mutex<Kept<K>>,
}

#[derive(Debug)]
struct Kept<K> {
    busy_until: HashMap<K, Instant>,
    /// When there are so many, those that are free are let go.
    shrinks_at: usize,
}

impl<K: Hash + Eq> Default for Paces<K> {
    fn default() -> Self {
        let kept = Kept { busy_until: HashMap::new(), shrinks_at: PACES_KEPT_MIN };
        Self { kept: Mutex::new(kept) }
    }
}

impl<K: Hash + Eq + Clone> Paces<K> {
    /// Takes the next place, and says when it is. `None`: that is later than asked for, and no
    /// place is taken.
    pub fn reserve(&self, key: &K, pace: Pace, until: Instant) -> Option<Instant> {
        let now = Instant::now();
        let mut kept = self.lock();
        let at = kept.free_at(key, pace, now);
        if at > until {
            return None;
        }
        kept.take(key, pace, now);
        Some(at)
    }

    /// Takes a place now, if no more than half of the pace is used.
    pub fn take_spare(&self, key: &K, pace: Pace) -> bool {
        let now = Instant::now();
        let mut kept = self.lock();
        let is_spare = kept.busy_for(key, now) <= pace.span / 2;
        if is_spare {
            kept.take(key, pace, now);
        }
        is_spare
    }

    /// Whether there is a place now. It takes none.
    pub fn is_free(&self, key: &K, pace: Pace) -> bool {
        let now = Instant::now();
        self.lock().free_at(key, pace, now) <= now
    }

    /// Takes the one place there is in a span, if it is free.
    pub fn once_in(&self, key: &K, span: Duration) -> bool {
        let now = Instant::now();
        let mut kept = self.lock();
        let is_free = kept.busy_for(key, now).is_zero();
        if is_free {
            kept.keep(key, now + span, now);
        }
        is_free
    }

    /// Lets nobody through for a while.
    pub fn hold(&self, key: &K, pace: Pace, span: Duration) {
        let now = Instant::now();
        let mut kept = self.lock();
        let held = span + pace.span.saturating_sub(interval(pace));
        let busy = held.max(kept.busy_for(key, now));
        kept.keep(key, now + busy, now);
    }

    fn lock(&self) -> MutexGuard<'_, Kept<K>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone> Kept<K> {
    fn busy_for(&self, key: &K, now: Instant) -> Duration {
        let busy = self.busy_until.get(key);
        busy.map_or(Duration::ZERO, |busy| busy.saturating_duration_since(now))
    }

    fn free_at(&self, key: &K, pace: Pace, now: Instant) -> Instant {
        now + (self.busy_for(key, now) + interval(pace)).saturating_sub(pace.span)
    }

    fn take(&mut self, key: &K, pace: Pace, now: Instant) {
        let busy = now + self.busy_for(key, now) + interval(pace);
        self.keep(key, busy, now);
    }

    fn keep(&mut self, key: &K, busy: Instant, now: Instant) {
        if self.busy_until.len() >= self.shrinks_at {
            self.busy_until.retain(|_, busy| *busy > now);
            self.shrinks_at = PACES_KEPT_MIN.max(self.busy_until.len() * 2);
        }
        self.busy_until.insert(key.clone(), busy);
    }
}

/// The span of one call. Never longer than the whole.
fn interval(pace: Pace) -> Duration {
    pace.span / pace.calls.get()
}

#[cfg(test)]
mod tests;
