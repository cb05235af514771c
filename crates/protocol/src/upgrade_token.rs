//! The upgrade token, with which a gateway proves on every dial that it has its secret.
//!
//! `base64url(<gateway>:<expiry>:<signature>)`, signed with HMAC-SHA256. The possible secrets are known only after the
//! gateway's name was parsed, so parsing comes first and proves nothing: [`UpgradeToken::peek`], then
//! [`UpgradeToken::at_the_door`], then [`PlausibleToken::signed_by`] with the store's secrets for that name.

use std::fmt;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use nightdesk_types::Timestamp;

mod plausible;

pub use plausible::{PlausibleToken, TokenRefusal, is_gateway_name};

use crate::secret::Secret;

/// The lifetime of a client's tokens.
pub const UPGRADE_TTL_SECS: i64 = 300;

/// Creates a gateway's token. Without a positive lifetime it never expires.
pub fn make(gateway: &str, secret: &[u8], ttl_secs: i64, now: Timestamp) -> Secret {
    let expires_at = if ttl_secs > 0 { now.as_second().saturating_add(ttl_secs) } else { 0 };
    let signed = format!("{gateway}:{expires_at}");
    let signature = hmac::sign(&key(secret), signed.as_bytes());
    let text = format!("{signed}:{}", hex::encode(signature));
    Secret::new(URL_SAFE_NO_PAD.encode(text))
}

/// A parsed token. Its content is not verified.
pub struct UpgradeToken {
    gateway: String,
    expires_at: i64,
    signature: Vec<u8>,
}

// A reader of a signature can open a line with it.
impl fmt::Debug for UpgradeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gateway, expires_at, signature: _ } = self;
        write!(f, "UpgradeToken({gateway:?}, expires at {expires_at})")
    }
}

impl UpgradeToken {
    /// Parses a token without verifying it.
    ///
    /// As tolerant as the stock client: with padding, in either alphabet, hex of either case.
    pub fn peek(token: &str) -> Option<Self> {
        let token = token.replace('+', "-").replace('/', "_");
        let text = String::from_utf8(GENEROUS.decode(token).ok()?).ok()?;
        // From the right, because a name may contain colons.
        let (rest, signature) = text.rsplit_once(':')?;
        let (gateway, expires_at) = rest.rsplit_once(':')?;
        Some(Self {
            gateway: gateway.to_owned(),
            expires_at: expires_at.trim().parse().ok()?,
            signature: hex::decode(signature).ok()?,
        })
    }

    /// Returns the gateway that it names.
    pub fn gateway(&self) -> &str {
        &self.gateway
    }

    /// Returns the index of the secret that signed it, if it has not expired by the client's own rule. The desk's check
    /// is stricter.
    pub fn verify(&self, secrets: &[impl AsRef<[u8]>], now: Timestamp) -> Option<usize> {
        let expired = self.expires_at != 0 && now.as_second() > self.expires_at;
        if expired { None } else { self.signed_by(secrets) }
    }

    /// Checks the content of a token, before its signature is compared with secrets.
    pub fn at_the_door(self, now: Timestamp) -> Result<PlausibleToken, TokenRefusal> {
        plausible::check(self, now)
    }

    fn signed_by(&self, secrets: &[impl AsRef<[u8]>]) -> Option<usize> {
        let signed = format!("{}:{}", self.gateway, self.expires_at);
        let signs = |secret: &[u8]| {
            // An empty secret was never set, and any caller could sign with it.
            !secret.is_empty()
                && hmac::verify(&key(secret), signed.as_bytes(), &self.signature).is_ok()
        };
        secrets.iter().position(|secret| signs(secret.as_ref()))
    }
}

const GENEROUS: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

fn key(secret: &[u8]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret)
}
