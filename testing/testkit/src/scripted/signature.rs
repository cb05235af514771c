//! Signs and verifies requests with the bot's key.

use aws_lc_rs::hmac;
use nightdesk_port::{Bot, ReceiveError, SignedRequest};
use nightdesk_vault::Key;

/// The header of the signature: the HMAC-SHA256 of the exact body, in hex.
pub const SIGNATURE_HEADER: &str = "x-scripted-signature";

/// Signs a body as the platform would.
pub fn sign(key: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    hex::encode(hmac::sign(&key, body))
}

/// Checks a signature in constant time. A bot without a key has no authentic requests.
pub(super) fn check(bot: &Bot, request: &SignedRequest<'_>) -> Result<(), ReceiveError> {
    let header = request.headers.get(SIGNATURE_HEADER).ok_or(ReceiveError::BadSignature)?;
    let signature = hex::decode(header).map_err(|_| ReceiveError::BadSignature)?;
    let signed = |key: &Key| {
        let key = key.with(|key| hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()));
        hmac::verify(&key, request.body, &signature).is_ok()
    };
    if bot.believed_keys().any(signed) { Ok(()) } else { Err(ReceiveError::BadSignature) }
}
