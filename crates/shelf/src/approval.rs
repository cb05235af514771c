//! Checks the approval of skills.
//!
//! In unsecured mode the status line is sufficient. In secured mode that line must contain a signature over everything
//! else, by a key whose private half is not on the desk: see [`sign`].

pub mod sign;

use std::fmt;

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::header::{Header, with_proof};
use crate::lines::lines;
use crate::skill::SkillStatus;

/// DER prefix of a public key.
const SPKI_PREFIX: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

const KEY_BYTES: usize = 32;

/// The only accepted signature scheme.
const SCHEME: &str = "v3";

/// The authority that approves skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// Every writer.
    #[default]
    Unsecured,
    /// The owner of the private half of this key.
    Secured(PublicKey),
}

/// The public half of a key that approves skills.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; KEY_BYTES]);

/// The text is not a public key.
#[derive(Debug, thiserror::Error)]
#[error("not an Ed25519 public key as PEM (SubjectPublicKeyInfo)")]
pub struct BadPublicKey;

impl PublicKey {
    /// Creates a key from its bytes.
    pub const fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns the key's bytes.
    pub const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Parses a key in its file format.
    pub fn from_pem(text: &str) -> Result<Self, BadPublicKey> {
        let der = pem_body(text, "PUBLIC KEY").ok_or(BadPublicKey)?;
        let bytes = der.strip_prefix(&SPKI_PREFIX).ok_or(BadPublicKey)?;
        Ok(Self(bytes.try_into().map_err(|_| BadPublicKey)?))
    }

    /// Returns the key in its file format.
    pub fn to_pem(&self) -> String {
        pem(&[&SPKI_PREFIX[..], &self.0[..]].concat(), "PUBLIC KEY")
    }

    fn has_signed(&self, canonical: &str, signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(canonical.as_bytes(), signature).is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", hex::encode(self.0))
    }
}

impl Approval {
    /// Checks that a skill may be run, and returns the reason if it may not.
    pub fn check(&self, source: &str) -> Result<(), &'static str> {
        match Header::parse(source).declared_status() {
            SkillStatus::Approved => self.check_signature(source),
            SkillStatus::Draft => Err("it is a draft"),
            SkillStatus::Disabled => Err("it is disabled"),
        }
    }

    /// Checks the signature of these bytes, independent of their status.
    pub fn check_signature(&self, source: &str) -> Result<(), &'static str> {
        let Self::Secured(key) = self else {
            return Ok(());
        };
        let proof = Header::parse(source).status.and_then(|line| line.proof);
        let proof = proof.ok_or("its status line carries no signature")?;
        let signature = signature_in(&proof)?;
        if key.has_signed(&canonical(source), &signature) {
            return Ok(());
        }
        Err("its signature does not match these bytes, or is of another key")
    }

    /// Returns the skill with an approved status line that carries this signature, or the reason why the signature does
    /// not approve it.
    pub fn apply_signature(&self, source: &str, proof: &str) -> Result<String, &'static str> {
        // The proof becomes a part of a line, also if no key is needed here.
        signature_in(proof)?;
        let signed = with_proof(source, proof);
        self.check_signature(&signed)?;
        Ok(signed)
    }

    /// Returns the text that represents the authority in a token.
    pub(crate) fn token_text(&self) -> String {
        match self {
            Self::Unsecured => "unsecured".to_owned(),
            Self::Secured(key) => hex::encode(key.0),
        }
    }
}

fn signature_in(proof: &str) -> Result<Vec<u8>, &'static str> {
    let Some((SCHEME, signature)) = proof.split_once(':') else {
        return Err("its signature is not of the scheme v3");
    };
    URL_SAFE_NO_PAD.decode(signature).map_err(|_| "its signature is not valid base64url")
}

/// Returns the signed text: every line except those of status and tags, with one kind of line end.
pub fn canonical(source: &str) -> String {
    let signed = lines(source).map(|line| line.text).filter(|text| !is_unsigned(text));
    signed.collect::<Vec<_>>().join("\n")
}

/// Returns true if a line may change without a new signature, in any place and any spelling.
fn is_unsigned(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('#') else {
        return false;
    };
    let Some((key, _)) = rest.split_once(':') else {
        return false;
    };
    ["status", "tags"].iter().any(|unsigned| key.trim().eq_ignore_ascii_case(unsigned))
}

fn pem(der: &[u8], label: &str) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

fn pem_body(text: &str, label: &str) -> Option<Vec<u8>> {
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let body = text.trim().strip_prefix(begin.as_str())?.strip_suffix(end.as_str())?;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()
}

#[cfg(test)]
mod tests;
