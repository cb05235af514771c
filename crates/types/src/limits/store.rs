//! Limits of calls to the database.

use std::time::Duration;

/// Longest time that a statement may run.
pub const STATEMENT_WAIT: Duration = Duration::from_secs(2);

/// Longest time that a node waits for the end of a statement. The server ends a statement earlier, so after a longer
/// silence the server or the network is gone.
pub const STATEMENT_ANSWER_WAIT: Duration = Duration::from_secs(STATEMENT_WAIT.as_secs() + 1);

/// Longest time that a node waits for the end of a transaction, which may have several statements.
pub const TRANSACTION_ANSWER_WAIT: Duration = Duration::from_secs(10);

/// Longest time that a starting node waits for a database that is unreachable or too busy.
pub const DATABASE_START_WAIT: Duration = Duration::from_secs(30);

/// Pause between two tries of a node to use a database that starts, or that takes over.
pub const DATABASE_START_PAUSE: Duration = Duration::from_millis(500);

/// Time for which a node keeps the events that it stored, to store them again if the database loses them.
pub const STORE_AGAIN_FOR: Duration = Duration::from_mins(10);

/// Oldest event that is stored again. It is well below the time for which keys are remembered, so that an event which the
/// database still has is a duplicate.
pub const STORE_AGAIN_AGE_MAX: Duration = Duration::from_hours(24);

/// Interval at which a node deletes older events from its memory.
pub const STORE_AGAIN_FORGET_EVERY: Duration = Duration::from_hours(1);

/// Bytes of the events that a node keeps for this, and of those that it is storing again; above it, the oldest are dropped.
pub const STORE_AGAIN_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Events that a node stores again together.
pub const STORE_AGAIN_TOGETHER_MAX: usize = 128;

/// Pause after a failed attempt to store them again.
pub const STORE_AGAIN_PAUSE: Duration = Duration::from_secs(1);

const _: () = assert!(
    STATEMENT_ANSWER_WAIT.as_millis() > STATEMENT_WAIT.as_millis()
        && TRANSACTION_ANSWER_WAIT.as_millis() > 2 * STATEMENT_ANSWER_WAIT.as_millis(),
    "a server that still answers ends a slow statement itself",
);

const _: () = assert!(
    STORE_AGAIN_TOGETHER_MAX <= super::WRITER_QUEUE_MAX / 4,
    "events of one bot find room at their writer, and leave some to others",
);
