//! Signs skills with the private key. The desk does not have it: only the command line calls this.

use std::fmt;

use aws_lc_rs::rand;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use super::{KEY_BYTES, PublicKey, SCHEME, canonical, pem, pem_body};
use crate::header::with_proof;

/// DER prefix of a private key.
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// A key that approves skills. It is never printed.
pub struct SigningKey {
    seed: Zeroizing<[u8; KEY_BYTES]>,
    pair: Ed25519KeyPair,
}

/// The text is not a private key.
#[derive(Debug, thiserror::Error)]
#[error("not an Ed25519 private key as PEM (PKCS #8)")]
pub struct BadSigningKey;

impl SigningKey {
    /// Generates a key.
    ///
    /// # Panics
    ///
    /// Panics if the system provides no random bits.
    #[expect(clippy::expect_used, reason = "without random bits nothing here is safe")]
    pub fn generate() -> Self {
        let mut seed = Zeroizing::new([0; KEY_BYTES]);
        rand::fill(&mut *seed).expect("the system gives random bits");
        Self::from_seed(&seed).expect("every 32 bytes are a seed")
    }

    /// Creates the key of this seed.
    pub fn from_seed(seed: &[u8; KEY_BYTES]) -> Result<Self, BadSigningKey> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| BadSigningKey)?;
        Ok(Self { seed: Zeroizing::new(*seed), pair })
    }

    /// Parses a key in its file format.
    pub fn from_pem(text: &str) -> Result<Self, BadSigningKey> {
        let der = Zeroizing::new(pem_body(text, "PRIVATE KEY").ok_or(BadSigningKey)?);
        let seed = der.strip_prefix(&PKCS8_PREFIX).ok_or(BadSigningKey)?;
        Self::from_seed(seed.try_into().map_err(|_| BadSigningKey)?)
    }

    /// Returns the key in its file format.
    pub fn to_pem(&self) -> Zeroizing<String> {
        let der = Zeroizing::new([&PKCS8_PREFIX[..], &self.seed[..]].concat());
        Zeroizing::new(pem(&der, "PRIVATE KEY"))
    }

    /// Returns the public half.
    pub fn public(&self) -> PublicKey {
        let mut bytes = [0; KEY_BYTES];
        bytes.copy_from_slice(self.pair.public_key().as_ref());
        PublicKey::from_bytes(bytes)
    }

    /// Returns the skill with an approved and signed status line.
    pub fn approve(&self, source: &str) -> String {
        with_proof(source, &self.proof(source))
    }

    /// Returns the signature of a skill, as its status line carries it.
    pub fn proof(&self, source: &str) -> String {
        let signature = self.pair.sign(canonical(source).as_bytes());
        format!("{SCHEME}:{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(of {:?})", self.public())
    }
}
