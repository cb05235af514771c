//! All limits of the SDK, besides those that it shares with the desk.

use std::time::Duration;

use nightdesk_types::limits::{
    DEAD_LINE, FRAME_IN_BYTES_MAX, HOLD_BACK, PING_EVERY, WINDOW_ENTRIES_MAX,
};

/// Timeout of a dial, from the first packet to the answered upgrade.
pub(crate) const DIAL_WAIT: Duration = Duration::from_secs(10);

/// Timeout for the answers to every hello on a new line.
pub(crate) const GREET_WAIT: Duration = Duration::from_secs(30);

/// Timeout of [`Agent::handshake`](crate::Agent::handshake).
pub(crate) const HANDSHAKE_WAIT: Duration = Duration::from_secs(30);

/// Maximum delay of the first dial after a lost line; each further delay may be twice as long.
pub(crate) const LADDER_FIRST: Duration = Duration::from_secs(1);

/// Maximum delay of a dial after any number of failures.
pub(crate) const LADDER_TOP: Duration = Duration::from_secs(30);

/// Life after which a line counts as good: the backoff restarts after it.
pub(crate) const LIVED: Duration = Duration::from_mins(1);

/// Time over which dials after a restart are spread, because every agent lost its line.
pub(crate) const RESTART_SPREAD: Duration = Duration::from_secs(5);

/// Number of consecutive revocation closes that a gateway needs before it accepts the revocation.
pub(crate) const REVOCATIONS_MAX: u32 = 2;

/// Maximum wait of a send for a line, or for a place on it.
pub(crate) const LINE_WAIT: Duration = Duration::from_secs(10);

/// Maximum number of sends that wait for a line, or for a place on it.
pub(crate) const SENDS_WAITING_MAX: usize = 64;

/// Maximum total size of waiting sends. One send always fits.
pub(crate) const SENDS_WAITING_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum number of commands in the driver's queue.
pub(crate) const COMMANDS_MAX: usize = 64;

/// Maximum number of concurrent turns: a full window of the desk.
pub(crate) const TURNS_MAX: usize = WINDOW_ENTRIES_MAX;

/// Maximum number of entries that wait for their turn. A desk that sends more violates its window.
pub(crate) const WAITING_ENTRIES_MAX: usize = 64;

/// Number of handled entry names that are remembered, so that none is handled twice.
pub(crate) const HANDLED_KEPT_MAX: usize = 4_096;

/// Timeout of going idle: the desk holds entries back for ten seconds.
pub(crate) const IDLE_WAIT: Duration = Duration::from_secs(8);

/// Minimum of [`sleep_after`](crate::Settings::sleep_after): on a new line the desk may still hold entries back.
pub(crate) const SLEEP_AFTER_MIN: Duration = Duration::from_secs(5);

/// Maximum of [`sleep_after`](crate::Settings::sleep_after).
pub(crate) const SLEEP_AFTER_MAX: Duration = Duration::from_hours(24);

/// Calls within this time after a wake belong to it.
pub(crate) const SAME_WAKE: Duration = Duration::from_secs(1);

/// Minimum and maximum length of the secret of a wake call.
pub(crate) const WAKE_SECRET_CHARS_MIN: usize = 16;
pub(crate) const WAKE_SECRET_CHARS_MAX: usize = 128;

/// Maximum number of connections to a wake listener; beyond it the oldest is dropped.
pub(crate) const CALLERS_MAX: usize = 32;

/// Timeout of a wake call, from its first packet to its answer.
pub(crate) const CALL_WAIT: Duration = Duration::from_secs(5);

/// Maximum size of a wake call. The HTTP library accepts no lower value.
pub(crate) const CALL_BYTES_MAX: usize = 8 * 1024;

/// Maximum number of headers of a wake call.
pub(crate) const CALL_HEADERS_MAX: usize = 32;

/// Delay after a failed accept, such as when descriptors run out.
pub(crate) const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Timeout of a call to the desk, from the first packet to the last.
#[cfg(feature = "asking")]
pub(crate) const ASK_WAIT: Duration = Duration::from_secs(15);

/// Maximum size of a desk's response.
#[cfg(feature = "asking")]
pub(crate) const ANSWER_BYTES_MAX: usize = 512 * 1024;

/// Remaining life at which an access token is replaced.
#[cfg(feature = "asking")]
pub(crate) const TOKEN_RENEWED_BEFORE: Duration = Duration::from_mins(2);

/// Timeout of writing one frame; after it the line is dead. Four megabytes on a slow line take a while.
pub(crate) const WRITE_WAIT: Duration = Duration::from_secs(30);

/// Read buffer of a socket.
pub(crate) const READ_BUFFER_BYTES: usize = 16 * 1024;

/// Maximum size of the write buffer: the longest frame, and control frames beside it.
pub(crate) const WRITE_BUFFER_BYTES_MAX: usize = 2 * FRAME_IN_BYTES_MAX;

const _: () = assert!(
    WINDOW_ENTRIES_MAX <= WAITING_ENTRIES_MAX && WAITING_ENTRIES_MAX < HANDLED_KEPT_MAX,
    "a full window can wait, and what a line gives again is still remembered",
);
const _: () = assert!(
    FRAME_IN_BYTES_MAX <= SENDS_WAITING_BYTES_MAX && READ_BUFFER_BYTES < WRITE_BUFFER_BYTES_MAX,
    "the longest frame can wait and be written",
);
const _: () = assert!(
    PING_EVERY.as_secs() + WRITE_WAIT.as_secs() < DEAD_LINE.as_secs(),
    "a line is pinged, and the ping written, before it is judged dead",
);
const _: () = assert!(
    HOLD_BACK.as_secs() < SLEEP_AFTER_MIN.as_secs(),
    "nobody sleeps before the desk has begun to hand over",
);
const _: () = assert!(
    SAME_WAKE.as_secs() < SLEEP_AFTER_MIN.as_secs(),
    "who was just woken cannot sleep again before the next call counts",
);
const _: () = assert!(
    LADDER_FIRST.as_secs() < RESTART_SPREAD.as_secs() && LADDER_TOP.as_secs() < LIVED.as_secs(),
    "a restart is spread wider than a loss, and no wait counts as a life",
);
