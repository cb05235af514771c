//! Limits of calls to the database.

use std::time::Duration;

/// The longest a statement may run.
pub const STATEMENT_WAIT: Duration = Duration::from_secs(2);

/// The longest a starting node waits for a database that cannot be reached or is too busy.
pub const DATABASE_START_WAIT: Duration = Duration::from_secs(30);

/// The pause between two tries of a starting node to use its database.
pub const DATABASE_START_PAUSE: Duration = Duration::from_millis(500);
