//! Limits of wakes.

use std::time::Duration;

use super::{OUTSIDE_CALL_WAIT, STATEMENT_WAIT};

/// Grace period for the client to reconnect before the desk calls its agent, after the desk closed the line or the
/// line's node died.
pub const CLOSED_GRACE: Duration = Duration::from_secs(35);

/// Grace period after the client hung up or vanished.
pub const VANISHED_GRACE: Duration = Duration::from_secs(5);

/// Grace period after the client announced that it goes idle.
pub const IDLE_GRACE: Duration = Duration::from_secs(3);

/// Minimum time between two calls to one agent.
pub const CALL_GAP: Duration = Duration::from_secs(15);

/// Time after the response to its claim within which a call must begin; a later call is postponed.
pub const CALL_BEGUN_WITHIN: Duration = Duration::from_millis(500);

/// Time after the start of its claim by which a call has begun.
pub const CALL_BEGUN_AFTER_CLAIM_MAX: Duration = STATEMENT_WAIT.saturating_add(CALL_BEGUN_WITHIN);

/// Minimum time between two claims of an agent's wake if the outcome of the first call was not recorded: that call may
/// have begun late.
pub const UNRECORDED_CALL_GAP: Duration = CALL_GAP.saturating_add(CALL_BEGUN_AFTER_CLAIM_MAX);

/// Longest delay after the first call; it doubles after each further call.
pub const CALL_WAIT_FIRST: Duration = Duration::from_secs(2);

/// Upper bound of the delay between two calls.
pub const CALL_WAIT_MAX: Duration = Duration::from_mins(10);

/// Time after which the desk stops calling an agent that does not connect, and notifies its people.
pub const WAKE_DEADLINE: Duration = Duration::from_hours(24);

/// Default time after which the author of the oldest waiting entry is told that the agent still does not come.
pub const STILL_WAKING_AFTER: Duration = Duration::from_mins(3);

/// Shortest such time that an operator can set.
pub const STILL_WAKING_AFTER_MIN: Duration = Duration::from_secs(1);

/// Default wakes per hour of one agent.
pub const WAKES_PER_HOUR: u32 = 60;

/// Interval at which a request for a call looks for a call that another node makes.
pub const CALL_POLLED_EVERY: Duration = Duration::from_millis(250);

/// Interval at which a node looks for due wakes.
pub const WAKE_SWEEP_EVERY: Duration = Duration::from_secs(1);

/// Concurrent wake calls of a node.
pub const WAKE_CALLS_AT_ONCE_MAX: usize = 64;

/// Batches of wakes that one sweep claims.
pub const WAKE_BATCHES_MAX: usize = 16;

/// Chats that get a notice about one wake.
pub const WAKE_PLACES_MAX: usize = 4;

/// Minimum interval between two attempts of a node to claim one agent's wake because of a new entry.
pub const WAKE_TRIED_EVERY: Duration = Duration::from_secs(1);

/// Wake URLs of one agent.
pub const WAKERS_MAX: usize = 8;

/// Timeout of the operator's wake command.
pub const WAKE_COMMAND_WAIT: Duration = Duration::from_secs(10);

/// Bytes of the wake command's output that are read.
pub const WAKE_COMMAND_BYTES_MAX: usize = 4 * 1024;

/// Lines of dead nodes that one sweep closes.
pub const BURIED_LINES_MAX: i32 = 200;

/// Waiting entries that the status of an agent's wake counts.
pub const WAITING_COUNTED_MAX: i64 = 1_000;

/// Notices stored per tenant.
pub const NOTICES_KEPT_MAX: i64 = 1_000;

const _: () = assert!(
    IDLE_GRACE.as_secs() < VANISHED_GRACE.as_secs()
        && VANISHED_GRACE.as_secs() < CLOSED_GRACE.as_secs(),
    "who said goodbye is called first, and who was sent away last",
);
const _: () = assert!(
    OUTSIDE_CALL_WAIT.as_secs() < CALL_GAP.as_secs()
        && WAKE_COMMAND_WAIT.as_secs() < CALL_GAP.as_secs()
        && CALL_GAP.as_secs() < CALL_WAIT_MAX.as_secs(),
    "a call ends before the next one to the same agent begins",
);
const _: () = assert!(
    CALL_WAIT_FIRST.as_secs() < CALL_WAIT_MAX.as_secs()
        && CALL_WAIT_MAX.as_secs() < WAKE_DEADLINE.as_secs(),
    "waits grow, and there are many before the deadline",
);
const _: () = assert!(
    CLOSED_GRACE.as_secs() < STILL_WAKING_AFTER.as_secs()
        && STILL_WAKING_AFTER_MIN.as_secs() < STILL_WAKING_AFTER.as_secs()
        && STILL_WAKING_AFTER.as_secs() < WAKE_DEADLINE.as_secs(),
    "an author hears of a delay after the first calls, and before the desk gives up",
);
