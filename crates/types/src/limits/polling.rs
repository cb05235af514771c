//! Limits of lines without a WebSocket.

use std::time::Duration;

use super::{PING_EVERY, WAKES_PER_HOUR};

/// Time after its last call during which a polling agent counts as present.
pub const POLL_PRESENCE: Duration = Duration::from_mins(1);

/// Longest turn of an agent that keeps no connection open: the deadline of a posted entry, and the time after which the
/// line of an absent agent ends although entries are unacknowledged.
pub const TURN_MAX: Duration = Duration::from_mins(15);

/// Longest time that a take waits for an entry.
pub const TAKE_WAIT_MAX: Duration = Duration::from_secs(55);

/// Time that a take waits if its request does not set it.
pub const TAKE_WAIT: Duration = Duration::from_secs(25);

/// Time within which a take must open a line.
pub const TAKE_OPEN_WAIT: Duration = Duration::from_secs(10);

/// Frames for the agent that a line without a WebSocket holds: a window of entries, and orders to stop.
pub const HELD_FRAMES_MAX: usize = 64;

/// Requests of an agent that wait for its line's session.
pub const LINE_REQUESTS_MAX: usize = 256;

/// Entries that one request may acknowledge.
pub const ACKS_PER_REQUEST_MAX: usize = 64;

/// Bytes of a request to a line without a WebSocket, besides a send.
pub const LINE_REQUEST_BYTES_MAX: usize = 64 * 1024;

/// Sends in the answer to one posted entry.
pub const SENDS_PER_ANSWER_MAX: usize = 32;

/// Attempts of such a send, if each one fails and may succeed later.
pub const ANSWER_ATTEMPTS_MAX: u32 = 8;

/// Pause before the second attempt of such a send; it doubles after each further one.
pub const ANSWER_AGAIN_FIRST: Duration = Duration::from_secs(2);

/// Longest pause between two attempts of such a send.
pub const ANSWER_AGAIN_MAX: Duration = Duration::from_secs(30);

/// Time without an entry after which the desk gives up the line of an agent that is called by webhook.
pub const WEBHOOK_REST: Duration = Duration::from_mins(1);

/// Time during which the previous secret of a webhook signs beside the new one.
pub const WEBHOOK_OVERLAP: Duration = Duration::from_hours(24);

/// Agents whose entries are to be posted and whose line is not open yet.
pub const WEBHOOK_CALLS_MAX: usize = 256;

/// Bytes of an agent's response to a posted entry that are read.
pub const WEBHOOK_ANSWER_BYTES_MAX: usize = 1_024 * 1_024;

/// Posts per second to one host, for all tenants together.
pub const WEBHOOK_HOST_PER_SECOND: u32 = 50;

/// Posts per second of one tenant.
pub const WEBHOOK_TENANT_PER_SECOND: u32 = 50;

/// Concurrent posts of one tenant.
pub const WEBHOOK_TENANT_AT_ONCE_MAX: u32 = 256;

/// Time after a failed post before the next one.
pub const WEBHOOK_AGAIN: Duration = Duration::from_mins(1);

const _: () = assert!(
    PING_EVERY.as_secs() < POLL_PRESENCE.as_secs()
        && TAKE_WAIT_MAX.as_secs() < POLL_PRESENCE.as_secs()
        && TAKE_WAIT.as_secs() < TAKE_WAIT_MAX.as_secs(),
    "an agent that takes again and again stays present",
);
const _: () = assert!(
    WEBHOOK_REST.as_secs() * WAKES_PER_HOUR as u64 >= 3_600,
    "an agent that gets entries all the time never exceeds its wakes",
);
