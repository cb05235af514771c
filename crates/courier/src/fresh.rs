//! Fresh ids, and the time as letters tell it.

use aws_lc_rs::rand;
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
