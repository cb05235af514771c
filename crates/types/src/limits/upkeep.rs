//! Limits of the upkeep of the tables.

use std::time::Duration;

use super::STATEMENT_WAIT;

/// Day partitions that are created in advance, so that the upkeep may pause for as long.
pub const DAYS_OPENED_AHEAD: i32 = 2;

/// Day partitions in advance without which a node does not start.
pub const DAYS_NEEDED_AHEAD: i32 = 1;

/// Day partitions before today that a node writes to, shortly after midnight.
pub const DAYS_NEEDED_BEHIND: i32 = 1;

/// Rows of one batch of upkeep.
pub const UPKEEP_ROWS_MAX: i32 = 1_000;

/// Blocks of a day from which one batch removes acknowledged entries: 2 MiB, some thousand entries.
pub const UPKEEP_BLOCKS_MAX: i32 = 256;

/// Time that each step of a round of upkeep may take. The next round goes on.
pub const UPKEEP_STEP_MAX: Duration = Duration::from_mins(2);

/// Longest time that a statement of upkeep may run.
pub const UPKEEP_STATEMENT_WAIT: Duration = Duration::from_secs(30);

/// Longest time that a node waits for the end of a statement of upkeep. The server ends it earlier.
pub const UPKEEP_ANSWER_WAIT: Duration = Duration::from_secs(UPKEEP_STATEMENT_WAIT.as_secs() + 1);

/// Longest time that upkeep waits for a lock. Accepts queue behind the drop of a partition, so this is their delay.
pub const UPKEEP_LOCK_WAIT: Duration = Duration::from_millis(50);

/// Partitions that one round of upkeep drops.
pub const DAYS_DROPPED_MAX: i64 = 64;

/// Interval of the upkeep.
pub const UPKEEP_EVERY: Duration = Duration::from_mins(5);

const _: () = assert!(
    UPKEEP_LOCK_WAIT.as_millis() * 10 < STATEMENT_WAIT.as_millis(),
    "an accept that waits behind a drop is far from its own end",
);
