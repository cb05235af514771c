//! Signing keys: each has one algorithm and is named by its RFC 7638 thumbprint.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{self, KeySize};
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

const KIND: &str = "signing-key";

/// Length of the PKCS #8 prefix of an RSA key of our size. The signing library expects the key without it.
const RSA_WRAPPING_BYTES: usize = 26;

/// The single algorithm of a key. A token that names another algorithm than its key has is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyAlgorithm {
    /// Short and fast.
    #[default]
    Es256,
    /// For clients that support no other algorithm.
    Rs256,
}

nightdesk_types::slugs! {
    KeyAlgorithm:
    Es256 = "ES256",
    Rs256 = "RS256",
}

impl KeyAlgorithm {
    pub(crate) const fn token_algorithm(self) -> Algorithm {
        match self {
            Self::Es256 => Algorithm::ES256,
            Self::Rs256 => Algorithm::RS256,
        }
    }
}

/// An opened signing key.
pub(super) struct SigningKey {
    pub(super) kid: String,
    pub(super) algorithm: KeyAlgorithm,
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

/// Creates a key of the desk and seals it for its row.
#[expect(clippy::expect_used, reason = "without randomness nothing may be signed at all")]
pub(super) fn make(
    vault: &Vault,
    algorithm: KeyAlgorithm,
    number: i64,
    used_from: Timestamp,
) -> StoredKey {
    let pair = new_pair(algorithm).expect("the system gives random bytes");
    let (_, _, public) = halves(&pair, algorithm).expect("a key that was just made is whole");
    StoredKey {
        number,
        kid: kid_of(&public).expect("a key of ours has a thumbprint"),
        algorithm,
        sealed: vault.seal_own(KIND, row(number), &pair),
        used_from,
        retired: false,
    }
}

fn new_pair(algorithm: KeyAlgorithm) -> Option<Key> {
    let pair = match algorithm {
        KeyAlgorithm::Es256 => {
            let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
            let pair = EcdsaKeyPair::generate_pkcs8(curve, &SystemRandom::new()).ok()?;
            STANDARD.encode(pair.as_ref())
        }
        KeyAlgorithm::Rs256 => {
            let pair = rsa::KeyPair::generate(KeySize::Rsa2048).ok()?;
            let pair: Pkcs8V1Der<'_> = pair.as_der().ok()?;
            STANDARD.encode(pair.as_ref().get(RSA_WRAPPING_BYTES..)?)
        }
    };
    Some(Key::new(pair))
}

impl SigningKey {
    pub(super) fn open(vault: &Vault, stored: &StoredKey) -> Result<Self, OpenError> {
        let pair = vault.open_own(KIND, row(stored.number), &stored.sealed)?;
        let algorithm = stored.algorithm;
        let (signing, verifying, mut public) = halves(&pair, algorithm).ok_or(OpenError)?;
        // The name is computed from the key, not taken from the row.
        let kid = kid_of(&public).filter(|kid| *kid == stored.kid).ok_or(OpenError)?;
        public.common.key_id = Some(kid.clone());
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        Ok(Self { kid, algorithm, used_from: stored.used_from, signing, verifying, public })
    }

    /// Returns the public key.
    pub(super) const fn public(&self) -> &Jwk {
        &self.public
    }
}

fn halves(pair: &Key, algorithm: KeyAlgorithm) -> Option<(EncodingKey, DecodingKey, Jwk)> {
    let der = pair.with(|text| STANDARD.decode(text)).ok().map(Zeroizing::new)?;
    let signing = match algorithm {
        KeyAlgorithm::Es256 => EncodingKey::from_ec_der(&der),
        KeyAlgorithm::Rs256 => EncodingKey::from_rsa_der(&der),
    };
    let public = Jwk::from_encoding_key(&signing, algorithm.token_algorithm()).ok()?;
    let verifying = DecodingKey::from_jwk(&public).ok()?;
    Some((signing, verifying, public))
}

fn kid_of(public: &Jwk) -> Option<String> {
    public.thumbprint(ThumbprintHash::SHA256).ok()
}

fn row(number: i64) -> Uuid {
    Uuid::from_u128(number.unsigned_abs().into())
}
