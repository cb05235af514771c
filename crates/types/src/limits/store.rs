//! Limits of calls to the database.

use std::time::Duration;

/// Longest time that a statement may run.
pub const STATEMENT_WAIT: Duration = Duration::from_secs(2);

/// Longest time that a starting node waits for a database that is unreachable or too busy.
pub const DATABASE_START_WAIT: Duration = Duration::from_secs(30);

/// Pause between two tries of a starting node to use its database.
pub const DATABASE_START_PAUSE: Duration = Duration::from_millis(500);
