//! Limits of the vault.

use std::time::Duration;

/// Keys of a vault's ring.
pub const VAULT_KEYS_MAX: usize = 16;

/// Timeout of the program that prints the vault's keys.
pub const KEY_COMMAND_WAIT: Duration = Duration::from_secs(10);

/// Most bytes that this program may print.
pub const KEY_COMMAND_BYTES_MAX: usize = 4 * 1024;

/// Bytes of the list of erased tenants: more than 100,000 lines.
pub const ERASURE_LIST_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Secrets that do not open and are remembered as reported. Further ones are not reported until the node restarts.
pub const UNOPENED_REPORTED_MAX: usize = 1_000;

/// Rows that one step of a rotation reseals.
pub const REKEY_ROWS_MAX: i64 = 500;

/// Time that an unused data key stays stored, for a node that read it just before its replacement.
pub const DATA_KEY_KEPT_FOR: Duration = Duration::from_mins(10);

/// Opened data keys that a node holds in memory, to seal and open messages.
pub const DATA_KEYS_OPENED_MAX: u64 = 16_384;

/// Time for which a node holds an opened data key.
pub const DATA_KEY_OPENED_FOR: Duration = Duration::from_mins(10);

/// Time for which a node seals with a data key before it asks for a newer one.
pub const DATA_KEY_SEALS_FOR: Duration = Duration::from_mins(1);

/// Longest time that a bot's old keys stay valid after a new one is set.
pub const BOT_KEY_OVERLAP_MAX: Duration = Duration::from_hours(24);

/// Valid keys of one bot. Of more, only the newest count.
pub const BOT_KEYS_LIVE_MAX: i32 = 4;

/// Time within which every node reads a bot's new key.
pub const BOT_KEY_READ_WITHIN: Duration = Duration::from_mins(1);

/// Longest lifetime of a capability, even if its platform allows more.
pub const CAPABILITY_GOOD_FOR_MAX: Duration = Duration::from_mins(15);

/// Time after its end that the place of a capability stays stored. A later follow-up is sent there as an ordinary
/// message. The store's sweep removes the row after this time.
pub const CAPABILITY_PLACE_KEPT_FOR: Duration = Duration::from_hours(24);

/// Time within which an expired capability is removed from the store.
pub const CAPABILITY_GONE_WITHIN: Duration = Duration::from_mins(1);

/// Interval at which expired capabilities are removed.
pub const CAPABILITY_PURGE_EVERY: Duration = Duration::from_secs(20);

/// Longest name of a kind of capability.
pub const CAPABILITY_KIND_BYTES_MAX: usize = 128;

/// Largest capability that is stored.
pub const CAPABILITY_BYTES_MAX: usize = 8 * 1024;

const _: () = assert!(
    super::ACCOUNT_KEPT_FOR.as_secs() < BOT_KEY_READ_WITHIN.as_secs(),
    "a bot's new key is read before the old one may be taken back",
);
const _: () = assert!(
    DATA_KEY_SEALS_FOR.as_secs() * 2 < DATA_KEY_KEPT_FOR.as_secs(),
    "no node seals with a replaced data key that may be removed",
);
const _: () = assert!(
    CAPABILITY_PURGE_EVERY.as_secs() * 2 < CAPABILITY_GONE_WITHIN.as_secs(),
    "a capability is gone in time, also if one look failed",
);
