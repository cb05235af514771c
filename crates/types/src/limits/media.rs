//! Files by reference.

use std::time::Duration;

use super::PENDING_DAYS;

/// How large a file may be.
pub const MEDIA_BYTES_MAX: usize = 25 * 1024 * 1024;

/// For how long what an agent gave us is kept.
pub const MEDIA_KEPT: Duration = Duration::from_hours(1);

/// For how long a file that a platform has is given out: as long as its message may wait, and then as
/// long as any other.
pub const MEDIA_REFERRED: Duration =
    Duration::from_hours(PENDING_DAYS.unsigned_abs() as u64 * 24 + 1);

/// How much may lie here for a tenant.
pub const MEDIA_TENANT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Files of one message that are given out.
pub const MEDIA_PER_EVENT_MAX: usize = 32;

/// How many bytes their names and kinds may have.
pub const MEDIA_NAME_BYTES_MAX: usize = 255;

/// How many are taken at a time, each in memory until it is whole; others wait.
pub const MEDIA_AT_ONCE_MAX: usize = 16;

/// How long one waits for its turn.
pub const MEDIA_TURN_WAIT: Duration = Duration::from_secs(5);

/// How long taking one may last. The stock client gives up then.
pub const MEDIA_TAKE_WAIT: Duration = Duration::from_secs(30);

/// How long a platform may take to begin with one.
pub const MEDIA_FETCH_WAIT: Duration = Duration::from_secs(10);

/// How often bytes are looked for whose time is over, and ...
pub const MEDIA_SWEPT_EVERY: Duration = Duration::from_mins(5);

/// ... how many are removed at a time.
pub const MEDIA_SWEPT_MAX: usize = 10_000;
