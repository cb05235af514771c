//! Bounds of our own pages.

use std::time::Duration;

/// Characters of one message on a page of ours.
pub const CHAT_TEXT_CHARS_MAX: usize = 8_000;

/// Characters of the name a page gives a message, so that a repeat of it is recognised.
pub const CHAT_NONCE_CHARS_MAX: usize = 64;

/// The largest body a page may post: the longest text, each character escaped as a pair.
pub const CHAT_BODY_BYTES_MAX: usize = 128 * 1024;

/// Messages a visitor may write at once.
pub const CHAT_MESSAGES_AT_ONCE: u32 = 10;

/// Messages a visitor may write in a minute, once those at once are spent.
pub const CHAT_MESSAGES_PER_MINUTE: u32 = 30;

/// Visitors whose pace is kept at a time.
pub const CHAT_PACED_VISITORS_MAX: usize = 100_000;

/// New visitors one address may bring in a minute.
pub const CHAT_SESSIONS_PER_MINUTE: u32 = 60;

/// Addresses whose new visitors are counted at a time.
pub const CHAT_PACED_ADDRESSES_MAX: usize = 100_000;

/// Days a visitor is known after the page was last opened.
pub const CHAT_SESSION_DAYS: i64 = 180;

/// Streams one visitor may have open on a node.
pub const CHAT_STREAMS_MAX: usize = 4;

/// Streams a node serves.
pub const STREAMS_MAX: usize = 20_000;

/// How often a stream looks at the transcript, whether or not the bell rang.
pub const CHAT_SWEEP_EVERY: Duration = Duration::from_secs(10);

/// How often a stream says that it is still there.
pub const CHAT_KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// How long a stream may last; the page opens it again by itself.
pub const CHAT_STREAM_LASTS: Duration = Duration::from_hours(1);

/// How long a status is shown, if nothing else comes.
pub const CHAT_STATUS_SHOWN: Duration = Duration::from_secs(10);

/// Characters of a status.
pub const CHAT_STATUS_CHARS_MAX: usize = 120;

/// Buttons under one question.
pub const CHAT_OPTIONS_MAX: usize = 12;

/// Lines a page shows, and lines a stream reads at a time.
pub const CHAT_LINES_SHOWN: usize = 200;

/// Lines kept of one chat.
pub const CHAT_LINES_KEPT_MAX: i64 = 10_000;

/// Days a line of a chat is kept.
pub const CHAT_KEPT_DAYS: i32 = 90;

const _: () = assert!(
    CHAT_TEXT_CHARS_MAX * 12 + 4_096 <= CHAT_BODY_BYTES_MAX,
    "the longest text fits into a body, however it is escaped",
);
const _: () = assert!(
    (CHAT_LINES_SHOWN as u64) < CHAT_LINES_KEPT_MAX.unsigned_abs(),
    "what is shown is kept"
);
