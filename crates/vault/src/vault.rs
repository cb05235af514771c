//! The vault's own keys, and the data keys wrapped by them.
//!
//! `2 | id of the vault key | envelope`. One key seals; the other keys of the ring still open values that they sealed,
//! so a key can be replaced while the desk serves. A value from before keys had ids begins with the envelope, and every
//! key of the ring is tried on it.

use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nightdesk_types::{DataKeyId, TenantId};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::Key;
use crate::envelope::{DataKey, OpenError, SealPlace, random_key};
use crate::ring::{KekId, KeyFileError, Ring};

/// A tenant's data key, wrapped for its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedKey(pub Vec<u8>);

impl WrappedKey {
    /// Returns the vault key that wraps it. `None`: it was wrapped before keys had ids.
    pub fn vault_key(&self) -> Option<KekId> {
        KekId::of_sealed(&self.0)
    }
}

/// The vault's keys. They come from a file or a command and are never in the store. Clones are the same vault.
#[derive(Clone, Debug)]
pub struct Vault {
    ring: Arc<RwLock<Arc<Ring>>>,
}

impl Vault {
    /// Reads the text of a key file: the key of the first line seals, those of all lines open.
    pub fn from_key_file(text: &str) -> Result<Self, KeyFileError> {
        Ok(Self { ring: Arc::new(RwLock::new(Arc::new(Ring::read(text)?))) })
    }

    /// Replaces the ring by that of another text, for every clone.
    pub fn read_again(&self, text: &str) -> Result<(), KeyFileError> {
        let ring = Arc::new(Ring::read(text)?);
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = ring;
        Ok(())
    }

    fn ring(&self) -> Arc<Ring> {
        Arc::clone(&self.ring.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the text of a new key file.
    pub fn new_key_file() -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(*random_key()))
    }

    /// Returns the key that seals.
    pub fn sealing_key(&self) -> KekId {
        self.ring().first().id()
    }

    /// Returns true if a key is in the ring.
    pub fn has_key(&self, kek: KekId) -> bool {
        self.ring().find(kek).is_some()
    }

    /// Derives a key that only desks with the same sealing key have; it differs per purpose. It changes with the
    /// sealing key: a value that must outlive the sealing key is stored as one of the desk's own secrets.
    pub fn derive(&self, purpose: &'static str) -> Zeroizing<[u8; 32]> {
        self.ring().first().derive(purpose)
    }

    /// Derives the key of a purpose from a certain key of the ring. `None` if the ring lacks it.
    pub(crate) fn derive_with(
        &self,
        kek: KekId,
        purpose: &'static str,
    ) -> Option<Zeroizing<[u8; 32]>> {
        self.ring().find(kek).map(|kek| kek.derive(purpose))
    }

    /// Creates a data key for a tenant and wraps it for its row.
    pub fn new_data_key(&self, tenant: TenantId, id: DataKeyId) -> (DataKey, WrappedKey) {
        let bytes = random_key();
        let wrapped = self.ring().first().seal(&data_key_place(tenant, id), bytes.as_slice());
        (DataKey::from_bytes(&bytes), WrappedKey(wrapped))
    }

    /// Unwraps a tenant's data key.
    pub fn unwrap(
        &self,
        tenant: TenantId,
        id: DataKeyId,
        wrapped: &WrappedKey,
    ) -> Result<DataKey, OpenError> {
        let bytes = self.ring().open(&data_key_place(tenant, id), &wrapped.0)?;
        let bytes = <&[u8; 32]>::try_from(bytes.as_slice()).map_err(|_| OpenError)?;
        Ok(DataKey::from_bytes(bytes))
    }

    /// Wraps a data key again, with the current sealing key.
    pub fn rewrap(
        &self,
        tenant: TenantId,
        id: DataKeyId,
        wrapped: &WrappedKey,
    ) -> Result<WrappedKey, OpenError> {
        self.ring().reseal(&data_key_place(tenant, id), &wrapped.0).map(WrappedKey)
    }

    /// Seals a secret of the desk itself, which belongs to no tenant.
    pub fn seal_own(&self, kind: &'static str, row: Uuid, secret: &Key) -> Vec<u8> {
        secret.with(|text| self.ring().first().seal(&own_place(kind, row), text.as_bytes()))
    }

    /// Opens a secret of the desk itself.
    pub fn open_own(&self, kind: &'static str, row: Uuid, sealed: &[u8]) -> Result<Key, OpenError> {
        let bytes = self.ring().open(&own_place(kind, row), sealed)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| OpenError)?;
        Ok(Key::new(text.to_owned()))
    }

    /// Seals a secret of the desk itself again, with the current sealing key.
    pub fn reseal_own(
        &self,
        kind: &'static str,
        row: Uuid,
        sealed: &[u8],
    ) -> Result<Vec<u8>, OpenError> {
        self.ring().reseal(&own_place(kind, row), sealed)
    }
}

/// Returns the place of a secret of the desk itself. No tenant has that id, and no data key is of that kind.
const fn own_place(kind: &'static str, row: Uuid) -> SealPlace {
    SealPlace { tenant: TenantId::from_uuid(Uuid::nil()), kind, row }
}

/// Returns the place of a tenant's data key. The first key has row zero, because it existed before keys had numbers.
fn data_key_place(tenant: TenantId, id: DataKeyId) -> SealPlace {
    let number = id.get().unsigned_abs().saturating_sub(1);
    SealPlace { tenant, kind: "data-key", row: Uuid::from_u128(number.into()) }
}

#[cfg(test)]
mod tests;
