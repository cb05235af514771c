//! What the issuer asks of a store.

use async_trait::async_trait;
use nightdesk_types::{StoreError, Timestamp};

/// A signing key as the store has it, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// Its number: the first is one.
    pub number: i64,
    /// Its name in tokens.
    pub kid: String,
    /// The sealed key.
    pub sealed: Vec<u8>,
    /// From when on it signs. Until then it is only made known.
    pub used_from: Timestamp,
}

/// Keeps the desk's signing keys. They are no tenant's.
#[async_trait]
pub trait Issuing: Send + Sync {
    /// The keys that are not retired, oldest first.
    async fn signing_keys(&self) -> Result<Vec<StoredKey>, StoreError>;

    /// Enters the very first key, and answers as [`Issuing::signing_keys`] does. If somebody
    /// else's was first, that one stands and this one is forgotten.
    async fn first_signing_key(&self, key: &StoredKey) -> Result<Vec<StoredKey>, StoreError>;
}
