//! An issuer's keys, for tests.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, crypto};
use serde_json::{Value, json};

use crate::forged::with;

pub(super) const NOW: i64 = 1_800_000_000;
pub(super) const ISSUER: &str = "https://login.example.org";
pub(super) const TENANT_CLAIM: &str = "tid";

/// A key pair of an issuer.
pub(super) struct Pair {
    pub(super) kid: &'static str,
    pub(super) algorithm: Algorithm,
    signing: EncodingKey,
}

impl Pair {
    pub(super) fn es256(kid: &'static str) -> Self {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let signing = EncodingKey::from_ec_der(pair.as_ref());
        Self { kid, algorithm: Algorithm::ES256, signing }
    }

    pub(super) fn rs256(kid: &'static str) -> Self {
        let pair: Pkcs8V1Der<'_> = KeyPair::generate(KeySize::Rsa2048).unwrap().as_der().unwrap();
        let signing = EncodingKey::from_rsa_der(&pair.as_ref()[26..]);
        Self { kid, algorithm: Algorithm::RS256, signing }
    }

    /// Returns the public key, as issuers publish it.
    pub(super) fn jwk(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.signing, self.algorithm).unwrap();
        with(serde_json::to_value(jwk).unwrap(), &json!({ "kid": self.kid, "use": "sig" }))
    }

    pub(super) fn header(&self) -> Value {
        json!({ "typ": "JWT", "alg": self.algorithm, "kid": self.kid })
    }

    /// Returns a token of these texts, correctly signed by the key.
    pub(super) fn signed(&self, header: &str, claims: &str) -> String {
        let texts = [header, claims].map(|text| URL_SAFE_NO_PAD.encode(text));
        let message = texts.join(".");
        let signature = crypto::sign(message.as_bytes(), &self.signing, self.algorithm).unwrap();
        format!("{message}.{signature}")
    }

    /// Returns a token with these claims.
    pub(super) fn token(&self, claims: &Value) -> String {
        self.signed(&self.header().to_string(), &claims.to_string())
    }
}

/// Returns a set of these keys.
pub(super) fn set(keys: &[Value]) -> Vec<u8> {
    json!({ "keys": keys }).to_string().into_bytes()
}

/// Returns the claims of a valid token for the desk.
pub(super) fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": "nightdesk", "sub": "s1", "iat": NOW, "exp": NOW + 3600,
        TENANT_CLAIM: "acme", "client_id": "hermes-cli-vps", "sid": "session-1",
    })
}
