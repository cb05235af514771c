//! A node's cache of the desk's signing keys.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{SIGNING_KEYS_AGAIN, SIGNING_KEYS_KEPT_FOR};
use nightdesk_vault::Vault;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::key::{self, KeyAlgorithm, SigningKey};
use super::rotation;
use crate::error::RegisterError;
use crate::store::Store;

/// Keys that are created at a time: one of each algorithm.
const KEYS_MADE_MAX: usize = 2;

/// The desk's signing keys. A caller that finds that the next key is due creates it.
pub(super) struct Keys {
    store: Arc<dyn Store>,
    vault: Vault,
    /// The algorithm of the next key.
    pub(super) wanted: KeyAlgorithm,
    remembered: Mutex<Option<(Instant, Arc<[SigningKey]>)>>,
}

impl Keys {
    pub(super) fn new(store: Arc<dyn Store>, vault: Vault) -> Self {
        let (wanted, remembered) = (KeyAlgorithm::default(), Mutex::default());
        Self { store, vault, wanted, remembered }
    }

    /// Returns the accepted keys, the newest last.
    pub(super) async fn accepted_keys(
        &self,
        now: Timestamp,
    ) -> Result<Arc<[SigningKey]>, RegisterError> {
        if let Some(keys) = self.younger_than(SIGNING_KEYS_KEPT_FOR) {
            return Ok(keys);
        }
        match self.read(now).await {
            Ok(keys) => Ok(keys),
            // If the store is down, the cached keys stay in use.
            Err(error) => self.younger_than(Duration::MAX).ok_or(error),
        }
    }

    /// Reads the keys again for a token that names an unknown one. `None`: they were read just now.
    pub(super) async fn read_again(
        &self,
        now: Timestamp,
    ) -> Result<Option<Arc<[SigningKey]>>, RegisterError> {
        if self.younger_than(SIGNING_KEYS_AGAIN).is_some() {
            return Ok(None);
        }
        self.read(now).await.map(Some)
    }

    /// Returns the public keys, as clients fetch them.
    pub(super) async fn public_keys(&self, now: Timestamp) -> Result<Value, RegisterError> {
        let keys = self.accepted_keys(now).await?;
        Ok(json!({ "keys": keys.iter().map(SigningKey::public).collect::<Vec<_>>() }))
    }

    async fn read(&self, now: Timestamp) -> Result<Arc<[SigningKey]>, RegisterError> {
        let read_at = Instant::now();
        let mut stored = self.store.signing_keys().await?;
        for _ in 0..KEYS_MADE_MAX {
            let due = rotation::next_due_key(&stored, self.wanted, now);
            let Some((number, algorithm, used_from)) = due else { break };
            let next = key::make(&self.vault, algorithm, number, used_from);
            stored = self.store.enter_signing_key(&next).await?;
        }
        let open = |stored| SigningKey::open(&self.vault, stored);
        let opened: Result<Vec<_>, _> =
            rotation::accepted_keys(&stored, self.wanted, now).map(open).collect();
        let keys: Arc<[SigningKey]> = opened?.into();
        *self.lock() = Some((read_at, Arc::clone(&keys)));
        Ok(keys)
    }

    fn younger_than(&self, age: Duration) -> Option<Arc<[SigningKey]>> {
        let remembered = self.lock();
        let young = remembered.as_ref().filter(|(read_at, _)| read_at.elapsed() < age);
        young.map(|(_, keys)| Arc::clone(keys))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Arc<[SigningKey]>)>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
