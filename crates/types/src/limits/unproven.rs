//! Limits of callers that have proved nothing.

use std::time::Duration;

/// Failed upgrades of one address in [`UPGRADE_FAILURES_WINDOW`].
pub const UPGRADE_FAILURES_MAX: u32 = 20;

/// Window in which failed upgrades are counted.
pub const UPGRADE_FAILURES_WINDOW: Duration = Duration::from_mins(1);

/// Time that further failures of an address over this limit get 429 instead of 401.
pub const UPGRADE_FAILURES_BARRED: Duration = Duration::from_mins(15);

/// Addresses whose failures are counted.
pub const FAILING_ADDRESSES_MAX: usize = 10_000;

/// Names that one statement looks up for unproven callers.
pub const LOOKUP_NAMES_MAX: usize = 256;

/// Unproven callers that wait for one kind of lookup. Further ones are asked to retry.
pub const LOOKUPS_WAITING_MAX: usize = 4_096;

/// Longest time that an unproven caller waits for its lookup.
pub const LOOKUP_WAIT: Duration = Duration::from_secs(2);

/// Unknown names of one kind in the cache.
pub const UNKNOWN_NAMES_MAX: usize = 10_000;

/// Time that a name stays in the cache of unknown names. A gateway, bot, client or webhook that another node creates is
/// visible within this time.
pub const UNKNOWN_NAME_KEPT_FOR: Duration = Duration::from_secs(2);

/// Longest path of a bot that is looked up. The desk's own have 32 bytes.
pub const HOOK_PATH_BYTES_MAX: usize = 64;

/// Open connections from one address that have proved nothing. A new one then closes the oldest, so that callers behind
/// one proxy or router cannot lock each other out.
pub const UNPROVEN_PER_ADDRESS_MAX: usize = 4_096;

/// Open connections of a node that have proved nothing. A new one then closes the oldest.
pub const UNPROVEN_CONNECTIONS_MAX: usize = 16_384;

/// Unproven connections that are closed when the process has no descriptor left for a new one.
pub const UNPROVEN_CLOSED_AT_ONCE: usize = 64;

/// Longest time that the desk waits for an unproven client to read the next bytes of a response.
pub const UNPROVEN_READ_STALL_MAX: Duration = Duration::from_secs(30);

/// Longest time that the desk waits for a proven client to read the next bytes. A line has its own, shorter rule.
pub const READ_STALL_MAX: Duration = Duration::from_mins(2);

const _: () = assert!(
    LOOKUP_WAIT.as_millis() < super::SOURCE_REFUSED_WITHIN.as_millis(),
    "a platform is answered in time also if its bot cannot be looked up"
);
const _: () = assert!(
    READ_STALL_MAX.as_secs() > super::DEAD_LINE.as_secs(),
    "the line's own rule ends a line that does not read"
);
