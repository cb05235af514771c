//! Limits of the views of operators and tenants. A page of a tenant with 100,000 agents takes 200 ms at most, so it counts
//! only up to a bound.

use std::time::Duration;

/// Rows that a summary of a tenant counts.
pub const SUMMARY_COUNTED_MAX: i64 = 1_000;

/// Agents in which a summary looks for waiting entries: so many that are needed, and so many that are awake.
pub const SUMMARY_AGENTS_MAX: i64 = 250;

/// Waiting or parked entries that a row of an agent counts.
pub const AGENT_COUNTED_MAX: i64 = 99;

/// Open lines that a row of a node counts.
pub const NODE_LINES_COUNTED_MAX: i32 = 10_000;

/// Wakes of an agent that are logged. The store's function `wake_log_max` returns the same.
pub const WAKES_LOGGED_MAX: i64 = 8;

/// Received letters of an agent in a list.
pub const RECEIVED_LETTERS_MAX: i64 = 50;

/// Webhooks for letters, and grants for letters with other tenants, that a page shows.
pub const LETTER_ROWS_SHOWN_MAX: usize = 100;

/// Parked entries that one bulk action changes.
pub const BULK_ENTRIES_MAX: usize = 100;

/// Interval at which the usage of each tenant is sampled.
pub const USAGE_SAMPLED_EVERY: Duration = Duration::from_mins(5);

/// Tenants whose usage one statement samples.
pub const USAGE_TENANTS_MAX: i32 = 50;

/// Days of usage that a page shows.
pub const USAGE_DAYS_SHOWN: i64 = 30;

const _: () = assert!(
    AGENT_COUNTED_MAX < SUMMARY_COUNTED_MAX,
    "a row of an agent counts less than the summary of its tenant",
);
