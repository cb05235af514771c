//! Keyring: the key-encryption key, and the data keys wrapped by it.

use std::sync::Arc;

use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nightdesk_types::TenantId;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::Key;
use crate::envelope::{DataKey, OpenError, Place, random_key};

/// A tenant's data key as it lies in its row.
#[derive(Clone, Debug)]
pub struct WrappedKey(pub Vec<u8>);

/// The key file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the vault's key file does not hold 32 bytes in base64; make one with `nightdesk key new`")]
pub struct KeyFileError;

/// Holds the key-encryption key. It comes from a file and is never in the store.
#[derive(Clone, Debug)]
pub struct Vault {
    kek: Arc<DataKey>,
    root: Arc<Root>,
}

/// What the desk's other keys come from.
struct Root(Prk);

impl Root {
    #[expect(clippy::expect_used, reason = "the lengths that are asked for are ours")]
    fn fill(&self, purpose: &'static str, key: &mut [u8]) {
        let info = [purpose.as_bytes()];
        let derived = self.0.expand(&info, HKDF_SHA256).expect("a hash's length is given");
        derived.fill(key).expect("the key is as long as the hash");
    }
}

impl std::fmt::Debug for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Root")
    }
}

impl Vault {
    /// Reads the text of a key file.
    pub fn from_key_file(text: &str) -> Result<Self, KeyFileError> {
        let bytes = STANDARD.decode(text.trim()).map(Zeroizing::new).map_err(|_| KeyFileError)?;
        let bytes = <&[u8; 32]>::try_from(bytes.as_slice()).map_err(|_| KeyFileError)?;
        let root = Root(Salt::new(HKDF_SHA256, b"nightdesk").extract(bytes));
        Ok(Self { kek: Arc::new(DataKey::from_bytes(bytes)), root: Arc::new(root) })
    }

    /// The text of a new key file.
    pub fn new_key_file() -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(*random_key()))
    }

    /// A key that every desk with this key file has, and nobody else; another for each purpose.
    pub fn derive(&self, purpose: &'static str) -> Zeroizing<[u8; 32]> {
        let mut key = Zeroizing::new([0; 32]);
        self.root.fill(purpose, key.as_mut_slice());
        key
    }

    /// Makes a tenant's data key and wraps it for its row.
    pub fn new_data_key(&self, tenant: TenantId) -> (DataKey, WrappedKey) {
        let bytes = random_key();
        let wrapped = self.kek.seal_bytes(&place(tenant), bytes.as_slice());
        (DataKey::from_bytes(&bytes), WrappedKey(wrapped))
    }

    /// Unwraps a tenant's data key.
    pub fn unwrap(&self, tenant: TenantId, wrapped: &WrappedKey) -> Result<DataKey, OpenError> {
        let bytes = self.kek.open_bytes(&place(tenant), &wrapped.0)?;
        let bytes = <&[u8; 32]>::try_from(bytes.as_slice()).map_err(|_| OpenError)?;
        Ok(DataKey::from_bytes(bytes))
    }

    /// Seals a secret of the desk itself, which is no tenant's.
    pub fn seal_own(&self, kind: &'static str, row: Uuid, secret: &Key) -> Vec<u8> {
        self.kek.seal(&own(kind, row), secret)
    }

    /// Opens what was sealed so.
    pub fn open_own(&self, kind: &'static str, row: Uuid, sealed: &[u8]) -> Result<Key, OpenError> {
        self.kek.open(&own(kind, row), sealed)
    }
}

/// The desk's own place. No tenant has that id, and no data key is of that kind.
const fn own(kind: &'static str, row: Uuid) -> Place {
    Place { tenant: TenantId::from_uuid(Uuid::nil()), kind, row }
}

const fn place(tenant: TenantId) -> Place {
    Place { tenant, kind: "data-key", row: Uuid::nil() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(number: u128) -> TenantId {
        TenantId::from_uuid(Uuid::from_u128(number))
    }

    #[test]
    fn a_data_key_survives_its_row() {
        let vault = Vault::from_key_file(&Vault::new_key_file()).unwrap();
        let (key, wrapped) = vault.new_data_key(tenant(1));
        let place = Place { tenant: tenant(1), kind: "gateway-secret", row: Uuid::nil() };
        let sealed = key.seal(&place, &Key::new("s3cret".to_owned()));

        let again = vault.unwrap(tenant(1), &wrapped).unwrap();
        assert_eq!(again.open(&place, &sealed).unwrap().with(str::to_owned), "s3cret");
    }

    #[test]
    fn another_desk_or_tenant_cannot_unwrap() {
        let vault = Vault::from_key_file(&Vault::new_key_file()).unwrap();
        let other = Vault::from_key_file(&Vault::new_key_file()).unwrap();
        let (_, wrapped) = vault.new_data_key(tenant(1));

        assert!(vault.unwrap(tenant(2), &wrapped).is_err());
        assert!(other.unwrap(tenant(1), &wrapped).is_err());
    }

    #[test]
    fn the_desks_own_secret_opens_in_its_place_alone() {
        let vault = Vault::from_key_file(&Vault::new_key_file()).unwrap();
        let other = Vault::from_key_file(&Vault::new_key_file()).unwrap();
        let row = Uuid::from_u128(1);
        let sealed = vault.seal_own("signing-key", row, &Key::new("s3cret".to_owned()));

        let opened = vault.open_own("signing-key", row, &sealed).unwrap();
        assert_eq!(opened.with(str::to_owned), "s3cret");
        assert!(vault.open_own("signing-key", Uuid::from_u128(2), &sealed).is_err(), "row");
        assert!(vault.open_own("other-key", row, &sealed).is_err(), "kind");
        assert!(other.open_own("signing-key", row, &sealed).is_err(), "desk");
    }

    #[test]
    fn a_derived_key_is_the_same_for_one_key_file_and_purpose() {
        let file = Vault::new_key_file();
        let (one, two) =
            (Vault::from_key_file(&file).unwrap(), Vault::from_key_file(&file).unwrap());
        let other = Vault::from_key_file(&Vault::new_key_file()).unwrap();

        assert_eq!(one.derive("bus"), two.derive("bus"));
        assert_ne!(one.derive("bus"), one.derive("other"), "purpose");
        assert_ne!(one.derive("bus"), other.derive("bus"), "desk");
        assert!(!format!("{one:?}").contains("Prk"), "no part of it is printed");
    }

    #[test]
    fn a_broken_key_file_is_refused() {
        for text in ["", "short", &STANDARD.encode([0; 31]), &STANDARD.encode([0; 33])] {
            assert!(Vault::from_key_file(text).is_err(), "{text}");
        }
    }
}
