//! Limits of the leases of nodes.

use std::time::Duration;

/// Duration of a node's lease without a renewal, by the clock of its owner and by the clock of any other node.
pub const LEASE_LASTS: Duration = Duration::from_secs(6);

/// Interval of the renewals.
pub const LEASE_RENEWED_EVERY: Duration = Duration::from_secs(2);

/// Timeout of one renewal, and the retry delay of a failed one.
pub const LEASE_RENEWED_WITHIN: Duration = Duration::from_secs(1);

/// Interval at which a node reads the renewals of the others. A node sees a renewal this much later, and the end of a
/// lease again this much later.
pub const LEASE_WATCHED_EVERY: Duration = Duration::from_millis(250);

/// Time without a renewal after which a node is dead although its lease has not expired by the database's clock, which
/// was then set back.
pub const LEASE_SILENT_MAX: Duration = Duration::from_mins(1);

/// Nodes of a cell that are read together.
pub const NODES_MAX: i64 = 1_000;

/// Time that an owner stays in the cache. The store refuses a write of an outdated owner.
pub const OWNER_KEPT_FOR: Duration = Duration::from_secs(2);

/// Owners in the cache.
pub const OWNERS_KEPT_MAX: u64 = 10_000;

const _: () = assert!(
    LEASE_RENEWED_EVERY.as_secs() + 2 * LEASE_RENEWED_WITHIN.as_secs() < LEASE_LASTS.as_secs(),
    "a renewal may fail once without anybody noticing"
);
const _: () = assert!(
    LEASE_LASTS.as_secs() < LEASE_SILENT_MAX.as_secs(),
    "a lease expires by the database's clock first"
);
