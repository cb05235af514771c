//! Public keys of issuers, each of one algorithm.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm as Named};
use jsonwebtoken::jwk::{PublicKeyUse, RSAKeyParameters};
use jsonwebtoken::{DecodingKey, decode};
use nightdesk_types::limits::{
    ISSUED_NAME_BYTES_MAX, ISSUER_KEYS_MAX, ISSUER_RSA_BYTES_MAX, ISSUER_RSA_BYTES_MIN,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::issuer::{KeyAlgorithm, signature_only};

/// A key that verifies tokens.
#[derive(Clone)]
pub(super) struct TokenVerifyingKey {
    pub(super) kid: String,
    algorithm: KeyAlgorithm,
    key: DecodingKey,
}

impl std::fmt::Debug for TokenVerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PublicKey({} {})", self.kid, self.algorithm.slug())
    }
}

/// The reason that a key set is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadKeys {
    #[error("it is not a JSON Web Key Set (RFC 7517)")]
    Unreadable,
    #[error("it has more than {ISSUER_KEYS_MAX} keys")]
    TooMany,
}

/// Reads a key set. Unusable keys are skipped; a name that two keys have matches neither.
pub(super) fn read(body: &[u8]) -> Result<Vec<TokenVerifyingKey>, BadKeys> {
    #[derive(Deserialize)]
    struct Set {
        keys: Vec<Value>,
    }
    let set: Set = serde_json::from_slice(body).map_err(|_| BadKeys::Unreadable)?;
    if set.keys.len() > ISSUER_KEYS_MAX {
        return Err(BadKeys::TooMany);
    }
    let keys: Vec<TokenVerifyingKey> =
        set.keys.into_iter().filter_map(TokenVerifyingKey::read).collect();
    let is_alone =
        |key: &&TokenVerifyingKey| keys.iter().filter(|other| other.kid == key.kid).count() == 1;
    Ok(keys.iter().filter(is_alone).cloned().collect())
}

impl TokenVerifyingKey {
    fn read(key: Value) -> Option<Self> {
        let key: Jwk = serde_json::from_value(key).ok()?;
        let signs =
            key.common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
        let kid = key.common.key_id.clone();
        let kid = kid.filter(|kid| signs && (1..=ISSUED_NAME_BYTES_MAX).contains(&kid.len()))?;
        let algorithm = algorithm_of(&key)?;
        Some(Self { kid, algorithm, key: DecodingKey::from_jwk(&key).ok()? })
    }

    /// Returns the claims of a token that this key signed. Times and names are not checked.
    pub(super) fn verify<T: DeserializeOwned + Clone>(&self, token: &str) -> Option<T> {
        let validation = signature_only(self.algorithm.token_algorithm());
        decode(token, &self.key, &validation).ok().map(|token| token.claims)
    }
}

/// Returns the single algorithm of a key. A key that declares a different algorithm is unusable.
fn algorithm_of(key: &Jwk) -> Option<KeyAlgorithm> {
    let (algorithm, named) = if let AlgorithmParameters::EllipticCurve(point) = &key.algorithm
        && point.curve == EllipticCurve::P256
    {
        (KeyAlgorithm::Es256, Named::ES256)
    } else if let AlgorithmParameters::RSA(rsa) = &key.algorithm
        && is_of_good_size(rsa)
    {
        (KeyAlgorithm::Rs256, Named::RS256)
    } else {
        return None;
    };
    key.common.key_algorithm.is_none_or(|said| said == named).then_some(algorithm)
}

fn is_of_good_size(rsa: &RSAKeyParameters) -> bool {
    let bytes = URL_SAFE_NO_PAD.decode(&rsa.n).map(|modulus| modulus.len());
    bytes.is_ok_and(|bytes| (ISSUER_RSA_BYTES_MIN..=ISSUER_RSA_BYTES_MAX).contains(&bytes))
}
