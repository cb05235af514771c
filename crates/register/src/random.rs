//! Random ids and secrets.

use aws_lc_rs::rand;
use nightdesk_vault::Key;
use uuid::Uuid;

/// Returns 256 random bits, as the hex text that clients use as their HMAC key.
pub fn new_secret() -> Key {
    Key::new(hex::encode(random_bytes::<32>()))
}

pub(crate) fn random_id() -> Uuid {
    uuid::Builder::from_random_bytes(random_bytes()).into_uuid()
}

#[expect(clippy::expect_used, reason = "without randomness nothing may be entered at all")]
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).expect("the system gives random bytes");
    bytes
}
