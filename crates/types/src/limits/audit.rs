//! Limits of the audit log.

use std::time::Duration;

/// Retention of the audit log, in days.
pub const AUDIT_KEPT_DAYS: i32 = 400;

/// Bytes of the reason that an operator gives for a new history.
pub const HISTORY_REASON_BYTES_MAX: usize = 200;

/// Audit rows that the verifier reads per query.
pub const AUDIT_PAGE_ROWS: i64 = 10_000;

/// Interval between two audit entries about failed authentications.
pub const AUTH_FAILURES_TOLD_EVERY: Duration = Duration::from_mins(1);

/// Interval at which the chain heads are anchored outside the audit log.
pub const AUDIT_ANCHORED_EVERY: Duration = Duration::from_hours(1);

/// Chain heads that one anchoring run reads per query.
pub const AUDIT_HEADS_MAX: i64 = 1_000;
