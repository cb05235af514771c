//! Limits of files by reference.

use std::time::Duration;

use super::PENDING_DAYS;

/// Largest file.
pub const MEDIA_BYTES_MAX: usize = 25 * 1024 * 1024;

/// Retention of a file that an agent uploaded.
pub const MEDIA_KEPT: Duration = Duration::from_hours(1);

/// Time that a file on a platform can be fetched: the longest time that its message may wait, plus the time of any
/// other file.
pub const MEDIA_REFERRED: Duration =
    Duration::from_hours(PENDING_DAYS.unsigned_abs() as u64 * 24 + 1);

/// Bytes of uploaded files per tenant.
pub const MEDIA_TENANT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Files per message that agents can fetch.
pub const MEDIA_PER_EVENT_MAX: usize = 32;

/// Longest file name or kind, in bytes.
pub const MEDIA_NAME_BYTES_MAX: usize = 255;

/// Concurrent uploads, each in memory until it is complete; further uploads wait.
pub const MEDIA_AT_ONCE_MAX: usize = 16;

/// Time that an upload waits for its turn.
pub const MEDIA_TURN_WAIT: Duration = Duration::from_secs(5);

/// Timeout of an upload. The stock client gives up at the same time.
pub const MEDIA_TAKE_WAIT: Duration = Duration::from_secs(30);

/// Time that a platform may take until the first byte of a file.
pub const MEDIA_FETCH_WAIT: Duration = Duration::from_secs(10);

/// Files whose names a node checks when it opens the store of files.
pub const MEDIA_PLACE_CHECKED_MAX: usize = 10_000;

/// Time limit of that check.
pub const MEDIA_PLACE_CHECK_WAIT: Duration = Duration::from_secs(10);

/// Interval at which expired files are removed.
pub const MEDIA_SWEPT_EVERY: Duration = Duration::from_mins(5);

/// Files that one sweep removes.
pub const MEDIA_SWEPT_MAX: usize = 10_000;
