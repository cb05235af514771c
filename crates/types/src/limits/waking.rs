//! Limits of waking.

use std::time::Duration;

use super::OUTSIDE_CALL_WAIT;

/// How long the client of a line that the desk closed, or whose node died, is given to come back by
/// itself before its agent is called.
pub const CLOSED_GRACE: Duration = Duration::from_secs(35);

/// The same for a client that hung up or vanished.
pub const VANISHED_GRACE: Duration = Duration::from_secs(5);

/// The same for one that said that it goes idle.
pub const IDLE_GRACE: Duration = Duration::from_secs(3);

/// One agent is called at most once in this.
pub const CALL_GAP: Duration = Duration::from_secs(15);

/// A call that has not begun so soon after the answer to its claim is put off.
pub const CALL_BEGUN_WITHIN: Duration = Duration::from_millis(500);

/// Between two calls lies up to this after the first, and twice as much after each further one, ...
pub const CALL_WAIT_FIRST: Duration = Duration::from_secs(2);

/// ... up to this.
pub const CALL_WAIT_MAX: Duration = Duration::from_mins(10);

/// An agent that did not dial in for so long is given up, and its people are told.
pub const WAKE_DEADLINE: Duration = Duration::from_hours(24);

/// How often one agent is woken in an hour, unless the operator says otherwise.
pub const WAKES_PER_HOUR: u32 = 60;

/// How often wakes that are due are looked for.
pub const WAKE_SWEEP_EVERY: Duration = Duration::from_secs(1);

/// Calls a node makes at a time.
pub const WAKE_CALLS_AT_ONCE_MAX: usize = 64;

/// Batches of wakes one sweep claims.
pub const WAKE_BATCHES_MAX: usize = 16;

/// Chats that are told of one wake.
pub const WAKE_PLACES_MAX: usize = 4;

/// How often a node tries to claim one agent's wake because of what just came for it.
pub const WAKE_TRIED_EVERY: Duration = Duration::from_secs(1);

/// URLs one agent is called at.
pub const WAKERS_MAX: usize = 8;

/// How long the operator's command may take.
pub const WAKE_COMMAND_WAIT: Duration = Duration::from_secs(10);

/// How much of what the operator's command says is read.
pub const WAKE_COMMAND_BYTES_MAX: usize = 4 * 1024;

/// Lines of dead nodes that are closed at a time.
pub const BURIED_LINES_MAX: i32 = 200;

/// Notices kept per tenant.
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
