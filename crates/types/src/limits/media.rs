//! Limits of files by reference.

use std::time::Duration;

use super::{PENDING_DAYS, SEND_DONE_WITHIN};

/// Largest file.
pub const MEDIA_BYTES_MAX: usize = 25 * 1024 * 1024;

/// Bytes of a file that are sealed together in the store of files.
pub const MEDIA_CHUNK_BYTES: usize = 64 * 1024;

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

/// Memory of one node for files on their way: uploads, which are in memory until they are complete, and sends.
pub const MEDIA_MEMORY_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Part of that memory that one tenant may use.
pub const MEDIA_MEMORY_TENANT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Memory of the smallest file on its way: its connection and its buffers.
pub const MEDIA_MEMORY_BYTES_MIN: u64 = 64 * 1024;

/// Memory of a send's file, which is streamed: the receive window of the connection that it is read from (2 MiB), and
/// the send buffer of the connection to the platform (1 MiB).
pub const MEDIA_STREAM_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Files that wait for memory on one node; further ones are refused.
pub const MEDIA_MEMORY_WAITS_MAX: usize = 4_096;

/// Files of one tenant that wait for memory on one node; further ones are refused.
pub const MEDIA_MEMORY_WAITS_TENANT_MAX: usize = 512;

/// Time that an upload waits for memory.
pub const MEDIA_TURN_WAIT: Duration = Duration::from_secs(5);

/// Time that the file of a send waits for memory.
pub const MEDIA_SEND_TURN_WAIT: Duration = Duration::from_secs(10);

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

const _: () = assert!(
    MEDIA_BYTES_MAX as u64 <= MEDIA_MEMORY_TENANT_BYTES_MAX
        && MEDIA_STREAM_BYTES_MAX <= MEDIA_MEMORY_TENANT_BYTES_MAX,
    "the largest file fits into the memory of its tenant",
);

const _: () = assert!(
    MEDIA_MEMORY_TENANT_BYTES_MAX * 4 <= MEDIA_MEMORY_BYTES_MAX,
    "one tenant uses at most a quarter of the memory for files",
);

const _: () = assert!(
    MEDIA_SEND_TURN_WAIT.as_secs() * 2 <= SEND_DONE_WITHIN.as_secs(),
    "a send that waited for memory still has time for its call",
);
