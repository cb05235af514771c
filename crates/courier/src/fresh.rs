//! Fresh ids, and the time as letters tell it.

use aws_lc_rs::{digest, rand};
use nightdesk_protocol::delivery::Millis;
use nightdesk_types::Clock;

/// An id that nobody had before.
///
/// # Panics
///
/// If the system gives no random bits.
#[expect(clippy::expect_used, reason = "without random bits nobody could tell letters apart")]
pub fn fresh_id() -> String {
    let mut bits = [0; 16];
    rand::fill(&mut bits).expect("the system gives random bits");
    uuid::Builder::from_random_bytes(bits).into_uuid().to_string()
}

/// Now, in milliseconds.
pub fn millis(clock: &dyn Clock) -> Millis {
    Millis(clock.now().as_millisecond())
}

/// By what a webhook for letters is known: of its secret nothing else is kept.
pub fn hook_key(secret: &str) -> [u8; 32] {
    let mut key = [0; 32];
    key.copy_from_slice(digest::digest(&digest::SHA256, secret.as_bytes()).as_ref());
    key
}
