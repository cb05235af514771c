//! Bounds of the audit log.

use std::time::Duration;

/// Days an act is kept in the audit log.
pub const AUDIT_KEPT_DAYS: i32 = 400;

/// Rows of it that are read at a time to be verified.
pub const AUDIT_PAGE_ROWS: i64 = 10_000;

/// How often it is told how many showed what nobody signed.
pub const AUTH_FAILURES_TOLD_EVERY: Duration = Duration::from_mins(1);

/// How often the heads of its chains are written down elsewhere.
pub const AUDIT_ANCHORED_EVERY: Duration = Duration::from_hours(1);

/// Heads that are read at a time for that.
pub const AUDIT_HEADS_MAX: i64 = 1_000;
