//! Limits: every bound the SDK keeps besides those it shares with the desk.

use std::time::Duration;

use nightdesk_types::limits::{
    DEAD_LINE, FRAME_IN_BYTES_MAX, HOLD_BACK, PING_EVERY, WINDOW_ENTRIES_MAX,
};

/// How long a dial may take, from the first packet to the answered upgrade.
pub(crate) const DIAL_WAIT: Duration = Duration::from_secs(10);

/// How long a fresh line may take to answer every hello.
pub(crate) const GREET_WAIT: Duration = Duration::from_secs(30);

/// How long [`Agent::handshake`](crate::Agent::handshake) waits for a line.
pub(crate) const HANDSHAKE_WAIT: Duration = Duration::from_secs(30);

/// Within this the first dial after a lost line comes; each further one may take twice as long.
pub(crate) const LADDER_FIRST: Duration = Duration::from_secs(1);

/// Within this a dial comes, however many have failed.
pub(crate) const LADDER_TOP: Duration = Duration::from_secs(30);

/// A line that lived for this long was a good one: the ladder begins anew after it.
pub(crate) const LIVED: Duration = Duration::from_mins(1);

/// Over this the dials after a restart are spread: everybody else lost their line too.
pub(crate) const RESTART_SPREAD: Duration = Duration::from_secs(5);

/// How many times in a row a gateway must hear that it is revoked before it believes it.
pub(crate) const REVOCATIONS_MAX: u32 = 2;

/// How long a send may wait for a line, or for a place on it.
pub(crate) const LINE_WAIT: Duration = Duration::from_secs(10);

/// Sends that may wait for a line, or for a place on it.
pub(crate) const SENDS_WAITING_MAX: usize = 64;

/// How long they may be together. One always fits.
pub(crate) const SENDS_WAITING_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What agent and turns may have asked of the driver and it has not looked at.
pub(crate) const COMMANDS_MAX: usize = 64;

/// Turns under way at a time: a full window of the desk's.
pub(crate) const TURNS_MAX: usize = WINDOW_ENTRIES_MAX;

/// Entries that may wait for their turn. A desk that sends more does not keep to its window.
pub(crate) const WAITING_ENTRIES_MAX: usize = 64;

/// Names of handled entries that are remembered, so that none is handled twice.
pub(crate) const HANDLED_KEPT_MAX: usize = 4_096;

/// How long going idle may take: the desk holds entries back for ten seconds.
pub(crate) const IDLE_WAIT: Duration = Duration::from_secs(8);

/// Within this much quiet no agent sleeps: on a fresh line the desk may still hold back.
pub(crate) const SLEEP_AFTER_MIN: Duration = Duration::from_secs(5);

/// After this much quiet an agent that may sleep does.
pub(crate) const SLEEP_AFTER_MAX: Duration = Duration::from_hours(24);

/// Calls that come within this after a wake belong to it.
pub(crate) const SAME_WAKE: Duration = Duration::from_secs(1);

/// How short and how long the secret of a wake call may be.
pub(crate) const WAKE_SECRET_CHARS_MIN: usize = 16;
pub(crate) const WAKE_SECRET_CHARS_MAX: usize = 128;

/// Connections to a wake listener at a time; past this the oldest is dropped.
pub(crate) const CALLERS_MAX: usize = 32;

/// How long a wake call may take, from its first packet to its answer.
pub(crate) const CALL_WAIT: Duration = Duration::from_secs(5);

/// What a wake call may say. No less can be set.
pub(crate) const CALL_BYTES_MAX: usize = 8 * 1024;

/// Headers a wake call may have.
pub(crate) const CALL_HEADERS_MAX: usize = 32;

/// How long to wait when no connection can be accepted, as when descriptors run out.
pub(crate) const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// How long a call to the desk may take, from the first packet to the last.
#[cfg(feature = "asking")]
pub(crate) const ASK_WAIT: Duration = Duration::from_secs(15);

/// The longest answer that is read from a desk.
#[cfg(feature = "asking")]
pub(crate) const ANSWER_BYTES_MAX: usize = 512 * 1024;

/// An access token is replaced when it is good for no longer than this.
#[cfg(feature = "asking")]
pub(crate) const TOKEN_RENEWED_BEFORE: Duration = Duration::from_mins(2);

/// Writing one frame takes at most this long, or the line is dead. Four megabytes on a slow
/// line take a while.
pub(crate) const WRITE_WAIT: Duration = Duration::from_secs(30);

/// What a socket reads at a time.
pub(crate) const READ_BUFFER_BYTES: usize = 16 * 1024;

/// What may wait to be written: the longest frame, and control frames beside it.
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
