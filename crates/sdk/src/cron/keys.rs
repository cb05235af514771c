//! The desk's public keys, read periodically and cached.

use std::sync::{Mutex, PoisonError};

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::Client;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::limits::{
    KEYS_FRESH_FOR, KEYS_MAX, KEYS_READ_EVERY, KEYS_STALE_FOR, KEYS_WAIT, KID_BYTES_MAX,
};
use super::warn;
use crate::desk_client::fetch_body;

/// Length of the modulus of an RSA key of 2,048 to 4,096 bits, as base64.
const RSA_CHARS: std::ops::RangeInclusive<usize> = 342..=683;

/// A key that verifies fires, for one algorithm only.
#[derive(Clone)]
pub(super) struct FireVerifyingKey {
    pub(super) kid: String,
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

impl FireVerifyingKey {
    pub(super) fn read(key: Value) -> Option<Self> {
        let key: Jwk = serde_json::from_value(key).ok()?;
        let signs =
            key.common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
        let kid = key.common.key_id.clone();
        let kid = kid.filter(|kid| signs && (1..=KID_BYTES_MAX).contains(&kid.len()))?;
        let algorithm = algorithm_of(&key)?;
        Some(Self { kid, algorithm, key: DecodingKey::from_jwk(&key).ok()? })
    }
}

/// Returns the single algorithm of a key. A key that declares a different algorithm is unusable.
fn algorithm_of(key: &Jwk) -> Option<Algorithm> {
    let (algorithm, named) = if let AlgorithmParameters::EllipticCurve(point) = &key.algorithm
        && point.curve == EllipticCurve::P256
    {
        (Algorithm::ES256, KeyAlgorithm::ES256)
    } else if let AlgorithmParameters::RSA(rsa) = &key.algorithm
        && RSA_CHARS.contains(&rsa.n.len())
    {
        (Algorithm::RS256, KeyAlgorithm::RS256)
    } else {
        return None;
    };
    key.common.key_algorithm.is_none_or(|said| said == named).then_some(algorithm)
}

/// Reads a key set. Unusable keys are skipped; a name that two keys have matches neither.
pub(super) fn read(body: &[u8]) -> Option<Vec<FireVerifyingKey>> {
    #[derive(Deserialize)]
    struct Set {
        keys: Vec<Value>,
    }
    let set: Set = serde_json::from_slice(body).ok()?;
    if set.keys.len() > KEYS_MAX {
        return None;
    }
    let keys: Vec<FireVerifyingKey> =
        set.keys.into_iter().filter_map(FireVerifyingKey::read).collect();
    let is_alone =
        |key: &&FireVerifyingKey| keys.iter().filter(|other| other.kid == key.kid).count() == 1;
    Some(keys.iter().filter(is_alone).cloned().collect())
}

/// The desk's keys.
pub(super) struct Keys {
    client: Client,
    url: String,
    kept: Mutex<KeyCache>,
    /// The holder of the lock reads; other callers wait and use the result.
    reading: tokio::sync::Mutex<()>,
}

/// The desk's keys are unknown now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unavailable;

impl Keys {
    pub(super) fn new(client: Client, desk: &str) -> Self {
        let (kept, reading) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { client, url: format!("{desk}/oauth/jwks.json"), kept, reading }
    }

    /// Returns the key of this name. `None`: the desk has no such key.
    pub(super) async fn find_key(
        &self,
        kid: &str,
    ) -> Result<Option<FireVerifyingKey>, Unavailable> {
        if !self.with_cache(|kept| kept.has_fresh_key(kid, Instant::now())) {
            let _reading = self.reading.lock().await;
            // The attempt is recorded before the read, so a caller that hangs up uses up its attempt too.
            if self.with_cache(|kept| kept.begin_read(kid, Instant::now())) {
                self.read().await;
            }
        }
        self.with_cache(|kept| kept.usable_key(kid, Instant::now()))
    }

    async fn read(&self) {
        let asked = self.client.get(&self.url).timeout(KEYS_WAIT);
        let body = fetch_body("read the desk's keys", asked).await;
        match body.map(|body| read(&body)) {
            Ok(Some(keys)) => self.with_cache(|kept| kept.store_keys(keys, Instant::now())),
            Ok(None) => tracing::warn!("the response of {} is not a key set", self.url),
            Err(error) => warn(&error, "the desk's keys could not be read"),
        }
    }

    fn with_cache<T>(&self, look: impl FnOnce(&mut KeyCache) -> T) -> T {
        look(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The cached keys of the desk.
#[derive(Default)]
struct KeyCache {
    keys: Vec<FireVerifyingKey>,
    read_at: Option<Instant>,
    tried_at: Option<Instant>,
}

impl KeyCache {
    fn find(&self, kid: &str) -> Option<&FireVerifyingKey> {
        self.keys.iter().find(|key| key.kid == kid)
    }

    /// Returns true if the keys must be read again for this key.
    fn needs_read(&self, kid: &str, now: Instant) -> bool {
        let tried_lately = self.tried_at.is_some_and(|at| now - at < KEYS_READ_EVERY);
        !tried_lately && !self.has_fresh_key(kid, now)
    }

    fn has_fresh_key(&self, kid: &str, now: Instant) -> bool {
        self.is_fresh(now) && self.find(kid).is_some()
    }

    fn begin_read(&mut self, kid: &str, now: Instant) -> bool {
        let wants = self.needs_read(kid, now);
        if wants {
            self.tried_at = Some(now);
        }
        wants
    }

    fn is_fresh(&self, now: Instant) -> bool {
        self.read_at.is_some_and(|at| now - at < KEYS_FRESH_FOR)
    }

    fn usable_key(&self, kid: &str, now: Instant) -> Result<Option<FireVerifyingKey>, Unavailable> {
        let usable = self.read_at.is_some_and(|at| now - at < KEYS_STALE_FOR);
        match self.find(kid) {
            Some(key) if usable => Ok(Some(key.clone())),
            None if self.is_fresh(now) => Ok(None),
            // The key may have been published since.
            Some(_) | None => Err(Unavailable),
        }
    }

    fn store_keys(&mut self, keys: Vec<FireVerifyingKey>, now: Instant) {
        (self.keys, self.read_at) = (keys, Some(now));
    }
}

#[cfg(test)]
mod tests;
