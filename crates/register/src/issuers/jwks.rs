//! An issuer's keys: refreshed periodically, and used from the cache while the issuer cannot be reached.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use nightdesk_types::limits::{
    ISSUER_KEYS_FRESH_FOR, ISSUER_KEYS_READ_EVERY, ISSUER_KEYS_STALE_FOR,
};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::public_key::{TokenVerifyingKey, read};

/// The location of an issuer's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// At this URL.
    Url(String),
    /// In this file.
    File(PathBuf),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url),
            Self::File(file) => write!(f, "{}", file.display()),
        }
    }
}

/// Fetches keys, within its own limits.
#[async_trait]
pub trait FetchKeys: Send + Sync {
    /// Returns the text of a key set.
    async fn fetch(&self, from: &KeySource) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>>;
}

/// An issuer's keys. Clones share one state.
#[derive(Clone)]
pub(super) struct Jwks(Arc<Inner>);

struct Inner {
    source: KeySource,
    fetch: Arc<dyn FetchKeys>,
    tasks: TaskTracker,
    cache: Mutex<JwksCache>,
    /// The holder of this lock reads the keys.
    reading: tokio::sync::Mutex<()>,
}

impl fmt::Debug for Jwks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jwks({})", self.0.source)
    }
}

/// The issuer's keys are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unavailable;

impl Jwks {
    pub(super) fn new(source: KeySource, fetch: Arc<dyn FetchKeys>, tasks: TaskTracker) -> Self {
        let (kept, reading) = (Mutex::default(), tokio::sync::Mutex::default());
        Self(Arc::new(Inner { source, fetch, tasks, cache: kept, reading }))
    }

    /// Returns the key of this name. `None`: the issuer has no such key.
    pub(super) async fn find_key(
        &self,
        kid: &str,
    ) -> Result<Option<TokenVerifyingKey>, Unavailable> {
        if self.with_cache(|kept| kept.needs_read(kid, Instant::now())) {
            let (jwks, kid) = (self.clone(), kid.to_owned());
            // The read runs in its own task: a caller that hangs up must not stop the read for others.
            drop(self.0.tasks.spawn(async move { jwks.read_again(&kid).await }).await);
        }
        self.with_cache(|kept| kept.usable_key(kid, Instant::now()))
    }

    /// Reads once for all waiting callers. A caller whose key is cached does not wait for another caller's read.
    async fn read_again(&self, kid: &str) {
        let known = self.with_cache(|kept| kept.find(kid).is_some());
        let _reading = match self.0.reading.try_lock() {
            Ok(reading) => reading,
            Err(_) if known => return,
            Err(_) => self.0.reading.lock().await,
        };
        if !self.with_cache(|kept| kept.needs_read(kid, Instant::now())) {
            return;
        }
        let keys = self.read().await;
        self.with_cache(|kept| kept.store_keys(keys, Instant::now()));
    }

    async fn read(&self) -> Option<Vec<TokenVerifyingKey>> {
        let Inner { source, fetch, .. } = &*self.0;
        let keys = match fetch.fetch(source).await {
            Ok(body) => read(&body).map_err(Into::into),
            Err(error) => Err(error),
        };
        keys.inspect_err(|error| {
            let error: &(dyn Error + 'static) = &**error;
            tracing::warn!(error, "could not read the keys of an issuer from {source}");
        })
        .ok()
    }

    fn with_cache<T>(&self, look: impl FnOnce(&mut JwksCache) -> T) -> T {
        look(&mut self.0.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The cached keys of an issuer.
#[derive(Default)]
struct JwksCache {
    keys: Vec<TokenVerifyingKey>,
    read_at: Option<Instant>,
    tried_at: Option<Instant>,
}

impl JwksCache {
    fn find(&self, kid: &str) -> Option<&TokenVerifyingKey> {
        self.keys.iter().find(|key| key.kid == kid)
    }

    /// Returns true if the keys must be read again for this key.
    fn needs_read(&self, kid: &str, now: Instant) -> bool {
        let tried_lately = self.tried_at.is_some_and(|at| now - at < ISSUER_KEYS_READ_EVERY);
        let is_known = self.is_fresh(now) && self.find(kid).is_some();
        !tried_lately && !is_known
    }

    fn is_fresh(&self, now: Instant) -> bool {
        self.read_at.is_some_and(|at| now - at < ISSUER_KEYS_FRESH_FOR)
    }

    fn usable_key(
        &self,
        kid: &str,
        now: Instant,
    ) -> Result<Option<TokenVerifyingKey>, Unavailable> {
        let usable = self.read_at.is_some_and(|at| now - at < ISSUER_KEYS_STALE_FOR);
        match self.find(kid) {
            Some(key) if usable => Ok(Some(key.clone())),
            None if self.is_fresh(now) => Ok(None),
            // The key may have been published since.
            Some(_) | None => Err(Unavailable),
        }
    }

    fn store_keys(&mut self, keys: Option<Vec<TokenVerifyingKey>>, now: Instant) {
        self.tried_at = Some(now);
        if let Some(keys) = keys {
            (self.keys, self.read_at) = (keys, Some(now));
        }
    }
}

#[cfg(test)]
mod tests;
