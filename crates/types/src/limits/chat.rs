//! Limits of the desk's own chat page.

use std::time::Duration;

/// Longest message that a page may post, in characters.
pub const CHAT_TEXT_CHARS_MAX: usize = 8_000;

/// Longest nonce of a message, in characters. The nonce identifies a repeated post.
pub const CHAT_NONCE_CHARS_MAX: usize = 64;

/// Largest body that a page may post: the longest text, each character escaped as a pair.
pub const CHAT_BODY_BYTES_MAX: usize = 128 * 1024;

/// Burst of messages that a visitor may post.
pub const CHAT_MESSAGES_AT_ONCE: u32 = 10;

/// Messages per minute that a visitor may post after the burst is used up.
pub const CHAT_MESSAGES_PER_MINUTE: u32 = 30;

/// Visitors in the rate-limit table.
pub const CHAT_PACED_VISITORS_MAX: usize = 100_000;

/// New sessions per minute from one address.
pub const CHAT_SESSIONS_PER_MINUTE: u32 = 60;

/// Addresses in the rate-limit table for new sessions.
pub const CHAT_PACED_ADDRESSES_MAX: usize = 100_000;

/// Days that a session stays valid after the page was last opened.
pub const CHAT_SESSION_DAYS: i64 = 180;

/// Open streams of one visitor per node.
pub const CHAT_STREAMS_MAX: usize = 4;

/// Open streams per node.
pub const STREAMS_MAX: usize = 20_000;

/// Interval at which a stream reads the transcript even without a bell.
pub const CHAT_SWEEP_EVERY: Duration = Duration::from_secs(10);

/// Interval of keep-alive messages on a stream.
pub const CHAT_KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Longest duration of a stream; the page reconnects by itself.
pub const CHAT_STREAM_LASTS: Duration = Duration::from_hours(1);

/// Time that a status stays visible if no other status follows.
pub const CHAT_STATUS_SHOWN: Duration = Duration::from_secs(10);

/// Longest status, in characters.
pub const CHAT_STATUS_CHARS_MAX: usize = 120;

/// Buttons of one prompt.
pub const CHAT_OPTIONS_MAX: usize = 12;

/// Messages that a page shows, and messages that a stream reads per query.
pub const CHAT_LINES_SHOWN: usize = 200;

/// Messages stored per chat.
pub const CHAT_LINES_KEPT_MAX: i64 = 10_000;

/// Retention of chat messages, in days.
pub const CHAT_KEPT_DAYS: i32 = 90;

const _: () = assert!(
    CHAT_TEXT_CHARS_MAX * 12 + 4_096 <= CHAT_BODY_BYTES_MAX,
    "the longest text fits into a body, however it is escaped",
);
const _: () = assert!(
    (CHAT_LINES_SHOWN as u64) < CHAT_LINES_KEPT_MAX.unsigned_abs(),
    "what is shown is kept"
);
