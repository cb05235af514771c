//! Forged tokens for the tests of every issuer.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// Returns the value with some members changed; null removes a member.
pub(crate) fn with(mut value: Value, changes: &Value) -> Value {
    let members = value.as_object_mut().unwrap();
    for (name, change) in changes.as_object().unwrap() {
        if change.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), change.clone());
        }
    }
    value
}

/// Returns the signature with one bit changed.
pub(crate) fn flipped(signature: &str) -> String {
    let mut bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    bytes[40] ^= 1;
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Signs with HS256 and the public key as the secret.
pub(crate) fn by_hmac(header: Value, public: &str, claims: &str) -> String {
    let header = with(header, &json!({ "alg": "HS256" })).to_string();
    let message = [header.as_str(), claims].map(|text| URL_SAFE_NO_PAD.encode(text)).join(".");
    let secret = hmac::Key::new(hmac::HMAC_SHA256, public.as_bytes());
    let tag = hmac::sign(&secret, message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
}
