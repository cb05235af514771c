//! New ids, and the time in milliseconds.

use aws_lc_rs::{digest, rand};
use nightdesk_protocol::delivery::Millis;
use nightdesk_types::Clock;

/// Returns a new random id.
///
/// # Panics
///
/// If the system returns no random bytes.
#[expect(clippy::expect_used, reason = "without random bits, letters could not be told apart")]
pub fn new_id() -> String {
    let mut bits = [0; 16];
    rand::fill(&mut bits).expect("the system gives random bits");
    uuid::Builder::from_random_bytes(bits).into_uuid().to_string()
}

/// Returns the current time of a clock in milliseconds.
pub fn millis(clock: &dyn Clock) -> Millis {
    Millis(clock.now().as_millisecond())
}

/// Returns the digest that identifies a webhook for letters. The store has only the digest of its secret.
pub fn hook_key(secret: &str) -> [u8; 32] {
    let mut key = [0; 32];
    key.copy_from_slice(digest::digest(&digest::SHA256, secret.as_bytes()).as_ref());
    key
}
