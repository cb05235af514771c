//! Checks signatures of requests, and their age.

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use nightdesk_types::Timestamp;

/// Maximum difference between the time of a signature and the desk's.
pub const SIGNATURE_WINDOW: Duration = Duration::from_mins(5);

/// Returns true if a signature was made recently. Its time is in seconds, and in plain digits only.
pub fn is_recent(seconds: &str, now: Timestamp) -> bool {
    let is_plain = !seconds.is_empty() && seconds.bytes().all(|b| b.is_ascii_digit());
    let at = seconds.parse().ok().filter(|_| is_plain);
    let at = at.and_then(|at| Timestamp::from_second(at).ok());
    at.is_some_and(|at| now.duration_since(at).unsigned_abs() <= SIGNATURE_WINDOW)
}

/// Returns true if a signature in hex is the HMAC-SHA256 of these parts, compared in constant time.
pub fn is_hmac_sha256(key: &[u8], parts: &[&[u8]], signature: &str) -> bool {
    let mut shown = [0; 32];
    if key.is_empty() || hex::decode_to_slice(signature, &mut shown).is_err() {
        return false;
    }
    verify_slices_are_equal(hmac_sha256(key, parts).as_ref(), &shown).is_ok()
}

/// Returns the HMAC-SHA256 of these parts in hex, as a platform signs its requests.
pub fn hmac_sha256_hex(key: &[u8], parts: &[&[u8]]) -> String {
    hex::encode(hmac_sha256(key, parts))
}

fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    for part in parts {
        context.update(part);
    }
    context.sign()
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 4231, case 2, in two parts.
    #[test]
    fn a_signature_is_valid_for_its_key_and_its_text() {
        const RIGHT: &str = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let parts: [&[u8]; 2] = [b"what do ya want ", b"for nothing?"];
        assert!(is_hmac_sha256(b"Jefe", &parts, RIGHT));
        assert_eq!(hmac_sha256_hex(b"Jefe", &parts), RIGHT);

        for (key, signature) in
            [("jefe", RIGHT), ("", RIGHT), ("Jefe", ""), ("Jefe", &RIGHT[2..]), ("Jefe", "zz")]
        {
            assert!(!is_hmac_sha256(key.as_bytes(), &parts, signature), "{key} {signature}");
        }
        assert!(!is_hmac_sha256(b"Jefe", &parts[..1], RIGHT));
    }

    #[test]
    fn a_signature_is_valid_for_five_minutes_in_both_directions() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let cases = [
            ("1000000", true),
            ("999700", true),
            ("999699", false),
            ("1000300", true),
            ("1000301", false),
            ("", false),
            ("+1000000", false),
            (" 1000000", false),
            ("1000000.0", false),
            ("99999999999999999999", false),
        ];
        for (at, want) in cases {
            assert_eq!(is_recent(at, now), want, "{at}");
        }
    }
}
