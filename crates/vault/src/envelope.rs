//! The format of a sealed secret in a row.
//!
//! `version | nonce | ciphertext and tag`. The row also contains the number of the key that sealed it. The place is
//! bound into the tag, so a row that is moved to another tenant, table or version cannot be opened.

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::rand;
use nightdesk_types::TenantId;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::Key;

pub(crate) const VERSION: u8 = 1;
const KEY_BYTES: usize = 32;

/// Bytes before the ciphertext: the version and the nonce.
const HEADER_BYTES: usize = 1 + NONCE_LEN;

/// Length of the tag.
const TAG_BYTES: usize = 16;

/// Bytes by which a sealed body is longer than the body.
pub const SEALED_EXTRA_BYTES: usize = HEADER_BYTES + TAG_BYTES;

/// The place that a sealed value is bound to.
#[derive(Clone, Copy, Debug)]
pub struct SealPlace {
    /// The tenant.
    pub tenant: TenantId,
    /// The kind of value: `gateway-secret`, `bot-key`.
    pub kind: &'static str,
    /// The row.
    pub row: Uuid,
}

impl SealPlace {
    fn associated_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(self.tenant.uuid().as_bytes());
        bytes.extend_from_slice(self.row.as_bytes());
        bytes.extend_from_slice(self.kind.as_bytes());
        bytes
    }
}

/// The value does not open: it was changed, moved, or sealed with another key.
#[derive(Debug, thiserror::Error)]
#[error("sealed value does not open")]
pub struct OpenError;

/// A key that seals values of one tenant.
pub struct DataKey {
    aead: LessSafeKey,
}

nightdesk_types::opaque_debug!(DataKey);

/// Returns a new random key.
pub(crate) fn random_key() -> Zeroizing<[u8; KEY_BYTES]> {
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    fill_random(bytes.as_mut_slice());
    bytes
}

#[expect(clippy::expect_used, reason = "without randomness nothing may be sealed at all")]
pub(crate) fn fill_random(bytes: &mut [u8]) {
    rand::fill(bytes).expect("the system gives random bytes");
}

impl DataKey {
    #[expect(clippy::expect_used, reason = "the length is part of the type")]
    pub(crate) fn from_bytes(bytes: &[u8; KEY_BYTES]) -> Self {
        let key = UnboundKey::new(&AES_256_GCM_SIV, bytes).expect("32 bytes make a key");
        Self { aead: LessSafeKey::new(key) }
    }

    /// Seals a secret for its place.
    pub fn seal(&self, place: &SealPlace, secret: &Key) -> Vec<u8> {
        secret.with(|text| self.seal_bytes(place, text.as_bytes()))
    }

    /// Opens a value that was sealed for this place.
    pub fn open(&self, place: &SealPlace, sealed: &[u8]) -> Result<Key, OpenError> {
        let bytes = self.open_bytes(place, sealed)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| OpenError)?;
        Ok(Key::new(text.to_owned()))
    }

    pub(crate) fn seal_bytes(&self, place: &SealPlace, bytes: &[u8]) -> Vec<u8> {
        self.seal_bound(place.associated_bytes(), bytes)
    }

    pub(crate) fn open_bytes(
        &self,
        place: &SealPlace,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        let mut bytes = Zeroizing::new(sealed.to_vec());
        self.open_bound(place.associated_bytes(), &mut bytes)?;
        Ok(bytes)
    }

    /// Seals bytes with a tag that covers `associated`, too.
    #[expect(clippy::expect_used, reason = "sealing fails only for bodies of many gigabytes")]
    pub(crate) fn seal_bound(&self, associated: Vec<u8>, bytes: &[u8]) -> Vec<u8> {
        let mut nonce = [0; NONCE_LEN];
        fill_random(&mut nonce);
        let mut sealed = Vec::with_capacity(bytes.len() + SEALED_EXTRA_BYTES);
        sealed.push(VERSION);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(bytes);
        let tag = self
            .aead
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(associated),
                &mut sealed[HEADER_BYTES..],
            )
            .expect("secrets and messages are short");
        sealed.extend_from_slice(tag.as_ref());
        sealed
    }

    /// Opens in place, so that no second copy is made.
    pub(crate) fn open_bound(
        &self,
        associated: Vec<u8>,
        sealed: &mut Vec<u8>,
    ) -> Result<(), OpenError> {
        if sealed.first() != Some(&VERSION) {
            return Err(OpenError);
        }
        let nonce = sealed.get(1..HEADER_BYTES).ok_or(OpenError)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| OpenError)?;
        let opened = self.aead.open_within(nonce, Aad::from(associated), sealed, HEADER_BYTES..);
        let opened_bytes = opened.map_err(|_| OpenError)?.len();
        sealed.truncate(opened_bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(tenant: u128) -> SealPlace {
        let tenant = TenantId::from_uuid(Uuid::from_u128(tenant));
        SealPlace { tenant, kind: "gateway-secret", row: Uuid::from_u128(9) }
    }

    #[test]
    fn opens_only_where_it_was_sealed_for() {
        let key = DataKey::from_bytes(&random_key());
        let sealed = key.seal(&place(1), &Key::new("s3cret".to_owned()));
        let elsewhere = [
            ("another tenant", place(2)),
            ("another kind", SealPlace { kind: "bot-key", ..place(1) }),
            ("another row", SealPlace { row: Uuid::from_u128(8), ..place(1) }),
        ];

        assert_eq!(key.open(&place(1), &sealed).unwrap().with(str::to_owned), "s3cret");
        for (name, place) in elsewhere {
            assert!(key.open(&place, &sealed).is_err(), "{name}");
        }
    }

    #[test]
    fn any_changed_byte_is_found() {
        let key = DataKey::from_bytes(&random_key());
        let sealed = key.seal(&place(1), &Key::new("s3cret".to_owned()));

        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert!(key.open(&place(1), &changed).is_err(), "byte {index}");
            assert!(key.open(&place(1), &sealed[..index]).is_err(), "cut at {index}");
        }
    }

    fn any_place() -> impl Strategy<Value = SealPlace> {
        let kind = prop::sample::select(vec!["gateway-secret", "bot-key", "capability"]);
        (0..3_u128, kind, 0..3_u128).prop_map(|(tenant, kind, row)| SealPlace {
            tenant: TenantId::from_uuid(Uuid::from_u128(tenant)),
            kind,
            row: Uuid::from_u128(row),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn a_value_opens_in_its_place_and_in_no_other(sealed_for in any_place(), at in any_place()) {
            let key = DataKey::from_bytes(&random_key());
            let sealed = key.seal(&sealed_for, &Key::new("s3cret".to_owned()));
            let is_its_place = sealed_for.associated_bytes() == at.associated_bytes();

            prop_assert_eq!(key.open(&at, &sealed).is_ok(), is_its_place);
        }
    }

    #[test]
    fn sealing_twice_gives_two_envelopes() {
        let key = DataKey::from_bytes(&random_key());
        let secret = Key::new("s3cret".to_owned());

        assert_ne!(key.seal(&place(1), &secret), key.seal(&place(1), &secret));
    }
}
