//! Limits of the examination of a desk.

use std::time::Duration;

use super::{CALL_GAP, CLOCK_DIFFERENCE_MAX, OUTSIDE_CALL_WAIT};

/// Time for one check of a node.
pub const NODE_CHECK_WAIT: Duration = Duration::from_secs(10);

/// Time for the check of all bots and agents; later tenants are left out, and the report says so.
pub const TENANT_CHECKS_WAIT: Duration = Duration::from_secs(20);

/// Findings about bots, and about agents, that one report names.
pub const DOCTOR_FINDINGS_MAX: usize = 100;

/// Time that the desk answers a question to itself, which it sends to its public URL.
pub const DESK_QUESTION_LIFE: Duration = Duration::from_mins(1);

/// Longest question that is read.
pub const DESK_QUESTION_BYTES_MAX: usize = 160;

/// Calls without success after which an agent that does not come is reported.
pub const REPORTED_CALLS_MIN: u32 = 2;

/// Time that a called agent may take to come before it is reported.
pub const AGENT_COMES_WITHIN: Duration = Duration::from_secs(20);

/// Time after which an agent that does not come is a fault: it may have to boot a machine.
pub const AGENT_BOOTS_WITHIN: Duration = Duration::from_mins(5);

/// Time before its end at which a certificate should be renewed.
pub const CERTIFICATE_RENEWED_BEFORE: Duration = Duration::from_hours(14 * 24);

/// Free bytes of a disk without which the desk may not work.
pub const DISK_FREE_BYTES_MIN: u64 = 128 * 1024 * 1024;

/// Free bytes of a disk below which the operator is told.
pub const DISK_FREE_BYTES_LOW: u64 = 1024 * 1024 * 1024;

/// Age of the last archived part of the database's log above which the operator is told.
pub const ARCHIVED_WITHIN: Duration = Duration::from_hours(26);

/// Days that a partition may stay after its end: entries may still wait in it, and a backup may read it.
pub const OLD_DAYS_TOLERATED: i32 = 2;

const _: () = assert!(
    OUTSIDE_CALL_WAIT.as_secs() < NODE_CHECK_WAIT.as_secs(),
    "a call to the public URL ends before its check does",
);
const _: () = assert!(
    DESK_QUESTION_LIFE.as_secs() > OUTSIDE_CALL_WAIT.as_secs() + 2 * CLOCK_DIFFERENCE_MAX.as_secs(),
    "a node whose clock is good enough answers a question of another node",
);
const _: () = assert!(
    CALL_GAP.as_secs() < AGENT_COMES_WITHIN.as_secs()
        && AGENT_COMES_WITHIN.as_secs() < AGENT_BOOTS_WITHIN.as_secs(),
    "an agent is called twice before it is reported, and is no fault at once",
);
const _: () = assert!(
    DISK_FREE_BYTES_MIN < DISK_FREE_BYTES_LOW,
    "the operator is told before the desk fails"
);
