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

/// Bytes of the anchors of one chain that a verification compares with: those of more than two years, one per hour.
pub const AUDIT_ANCHORS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Anchors of one chain that a command sends; the newest count.
pub const AUDIT_ANCHORS_MAX: usize = 20_000;

/// Bytes of an anchor as JSON, at most.
const ANCHOR_BYTES_MAX: usize = 192;

const _: () = assert!(
    AUDIT_ANCHORS_MAX * ANCHOR_BYTES_MAX + 1_024 <= AUDIT_ANCHORS_BYTES_MAX,
    "all anchors of a request fit into its body",
);
const _: () = assert!(
    AUDIT_ANCHORS_MAX > 24 * AUDIT_KEPT_DAYS.unsigned_abs() as usize,
    "there is room for the anchor of each hour of the retention",
);
