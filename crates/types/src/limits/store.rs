//! Limits of calls to the database.

use std::time::Duration;

/// Longest time that a statement may run.
pub const STATEMENT_WAIT: Duration = Duration::from_secs(2);

/// Longest time that a starting node waits for a database that is unreachable or too busy.
pub const DATABASE_START_WAIT: Duration = Duration::from_secs(30);

/// Pause between two tries of a starting node to use its database.
pub const DATABASE_START_PAUSE: Duration = Duration::from_millis(500);

/// Time for which a node keeps the events that it stored, to store them again if the database loses them.
pub const STORE_AGAIN_FOR: Duration = Duration::from_mins(10);

/// Bytes of the events that a node keeps for this; above it, the oldest are dropped.
pub const STORE_AGAIN_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Pause after a failed attempt to store them again.
pub const STORE_AGAIN_PAUSE: Duration = Duration::from_secs(1);
