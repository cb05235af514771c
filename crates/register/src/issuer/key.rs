//! Signing keys: ES256, each named by its RFC 7638 thumbprint.

use std::fmt;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::jwk::{Jwk, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use nightdesk_types::Timestamp;
use nightdesk_vault::{Key, OpenError, Vault};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::StoredKey;

/// The one algorithm of our keys. A token that names another is not looked at.
pub(super) const ALGORITHM: Algorithm = Algorithm::ES256;

const KIND: &str = "signing-key";

/// A signing key, opened.
pub(super) struct SigningKey {
    pub(super) kid: String,
    pub(super) used_from: Timestamp,
    pub(super) signing: EncodingKey,
    pub(super) verifying: DecodingKey,
    public: Jwk,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.kid)
    }
}

/// Makes the first key of a desk, and seals it for its row.
#[expect(clippy::expect_used, reason = "without randomness nothing may be signed at all")]
pub(super) fn first(vault: &Vault, now: Timestamp) -> StoredKey {
    let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
        .expect("the system gives random bytes");
    let pair = Key::new(STANDARD.encode(pair.as_ref()));
    let number = 1;
    let (_, _, public) = halves(&pair).expect("a key that was just made is whole");
    StoredKey {
        number,
        kid: kid_of(&public).expect("a P-256 key has a thumbprint"),
        sealed: vault.seal_own(KIND, row(number), &pair),
        used_from: now,
    }
}

impl SigningKey {
    pub(super) fn open(vault: &Vault, stored: &StoredKey) -> Result<Self, OpenError> {
        let pair = vault.open_own(KIND, row(stored.number), &stored.sealed)?;
        let (signing, verifying, mut public) = halves(&pair).ok_or(OpenError)?;
        // The name is the key's own, not the row's.
        let kid = kid_of(&public).filter(|kid| *kid == stored.kid).ok_or(OpenError)?;
        public.common.key_id = Some(kid.clone());
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        Ok(Self { kid, used_from: stored.used_from, signing, verifying, public })
    }

    /// Its public half.
    pub(super) const fn public(&self) -> &Jwk {
        &self.public
    }
}

fn halves(pair: &Key) -> Option<(EncodingKey, DecodingKey, Jwk)> {
    let der = pair.with(|text| STANDARD.decode(text)).ok().map(Zeroizing::new)?;
    let signing = EncodingKey::from_ec_der(&der);
    let public = Jwk::from_encoding_key(&signing, ALGORITHM).ok()?;
    let verifying = DecodingKey::from_jwk(&public).ok()?;
    Some((signing, verifying, public))
}

fn kid_of(public: &Jwk) -> Option<String> {
    public.thumbprint(ThumbprintHash::SHA256).ok()
}

fn row(number: i64) -> Uuid {
    Uuid::from_u128(number.unsigned_abs().into())
}
