//! Signs tokens of cron fires: valid ones as a desk signs them, and forged ones.
//!
//! It uses bare signatures and not the verifying library, so the two do not share an error, and it can sign tokens that
//! no library would sign.

mod table;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaKeyPair,
};
use aws_lc_rs::{hmac, signature::RsaEncoding};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

pub use table::cases;

/// Lifetime of a fire's token.
const LIFE_SECS: i64 = 90;

/// Issuer and audience of a token.
#[derive(Clone, Debug)]
pub struct Between {
    /// The desk's own name.
    pub issuer: String,
    /// `agent:` and the agent's id.
    pub audience: String,
}

/// A desk's keys: one of each kind, and one that is not published.
pub struct Signer {
    es: EcdsaKeyPair,
    rs: RsaKeyPair,
    ed: Ed25519KeyPair,
    hidden: EcdsaKeyPair,
}

/// Signing method of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The desk's own method.
    Es256,
    /// The other common method.
    Rs256,
    /// The key of `Rs256` with another padding.
    Ps256,
    /// A published key with an algorithm that is not accepted.
    EdDsa,
    /// The text of the public key as the secret.
    Hs256,
    /// An unpublished key with the name of the published one.
    Hidden,
    /// No signature.
    Nothing,
}

/// A token, with the expected verdicts.
#[derive(Clone, Debug)]
pub struct Case {
    /// Description of the token.
    pub name: &'static str,
    /// The token.
    pub token: String,
    /// True if the SDK accepts it as a fire.
    pub good: bool,
    /// True if the stock client accepts it. It checks less.
    pub good_for_stock: bool,
}

#[expect(clippy::expect_used, reason = "without randomness there is nothing to test with")]
fn fresh<T, E: std::fmt::Debug>(made: Result<T, E>) -> T {
    made.expect("the system gives random bytes")
}

fn text(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Default for Signer {
    fn default() -> Self {
        Self {
            es: fresh(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)),
            rs: fresh(RsaKeyPair::generate(KeySize::Rsa2048)),
            ed: fresh(Ed25519KeyPair::generate()),
            hidden: fresh(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)),
        }
    }
}

impl Signer {
    /// Returns the public keys, as the desk publishes them.
    pub fn jwks(&self) -> Value {
        // The first byte of a point is its format.
        let point = &self.es.public_key().as_ref()[1..];
        let (x, y) = point.split_at(32);
        let rs = self.rs.public_key();
        let (n, e) = (rs.modulus().big_endian_without_leading_zero(), rs.exponent());
        let e = e.big_endian_without_leading_zero();
        json!({"keys": [
            {"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": kid(By::Es256),
                "x": text(x), "y": text(y)},
            {"kty": "RSA", "use": "sig", "kid": kid(By::Rs256), "n": text(n), "e": text(e)},
            {"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": kid(By::EdDsa),
                "x": text(self.ed.public_key())},
            {"kty": "EC", "crv": "P-256", "use": "enc", "kid": "for-sealing",
                "x": text(x), "y": text(y)},
        ]})
    }

    /// Signs any header and claims without checks.
    pub fn sign(&self, by: By, header: &Value, claims: &Value) -> String {
        self.sign_text(by, &header.to_string(), &claims.to_string())
    }

    /// Signs text that may not be JSON.
    pub fn sign_text(&self, by: By, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", text(header), text(claims));
        let signature = self.signature(by, signed.as_bytes());
        format!("{signed}.{}", text(signature))
    }

    fn signature(&self, by: By, signed: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        let by_rsa = |padding: &'static dyn RsaEncoding| {
            let mut signature = vec![0; self.rs.public_modulus_len()];
            fresh(self.rs.sign(padding, &random, signed, &mut signature));
            signature
        };
        match by {
            By::Es256 => fresh(self.es.sign(&random, signed)).as_ref().to_vec(),
            By::Hidden => fresh(self.hidden.sign(&random, signed)).as_ref().to_vec(),
            By::Rs256 => by_rsa(&RSA_PKCS1_SHA256),
            By::Ps256 => by_rsa(&RSA_PSS_SHA256),
            By::EdDsa => self.ed.sign(signed).as_ref().to_vec(),
            By::Hs256 => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, self.pem().as_bytes());
                hmac::sign(&key, signed).as_ref().to_vec()
            }
            By::Nothing => Vec::new(),
        }
    }

    /// Returns the public part of the desk's own key as a PEM file.
    fn pem(&self) -> String {
        let der: PublicKeyX509Der<'_> = fresh(self.es.public_key().as_der());
        let der = STANDARD.encode(der.as_ref());
        format!("-----BEGIN PUBLIC KEY-----\n{der}\n-----END PUBLIC KEY-----\n")
    }

    /// Returns a valid token for a fire.
    pub fn good(&self, between: &Between, fire_id: &str, now_secs: i64) -> String {
        self.sign(By::Es256, &header(By::Es256), &claims(between, fire_id, now_secs))
    }
}

const fn kid(by: By) -> &'static str {
    match by {
        By::Rs256 | By::Ps256 => "desk-rsa",
        By::EdDsa => "desk-ed",
        By::Es256 | By::Hs256 | By::Hidden | By::Nothing => "desk-1",
    }
}

/// Returns the header of a token for a signing method.
pub fn header(by: By) -> Value {
    let alg = match by {
        By::Es256 | By::Hidden => "ES256",
        By::Rs256 => "RS256",
        By::Ps256 => "PS256",
        By::EdDsa => "EdDSA",
        By::Hs256 => "HS256",
        By::Nothing => "none",
    };
    json!({"alg": alg, "typ": "JWT", "kid": kid(by)})
}

/// Returns the claims of a valid token.
pub fn claims(between: &Between, fire_id: &str, now_secs: i64) -> Value {
    json!({
        "iss": between.issuer, "aud": between.audience, "purpose": "cron_fire", "jti": fire_id,
        "iat": now_secs, "nbf": now_secs, "exp": now_secs + LIFE_SECS,
    })
}
