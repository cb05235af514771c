//! Limits of the vault.

use std::time::Duration;

/// Keys a vault's ring may have.
pub const VAULT_KEYS_MAX: usize = 16;

/// How long the program that puts the vault's keys out may take.
pub const KEY_COMMAND_WAIT: Duration = Duration::from_secs(10);

/// The most it may put out.
pub const KEY_COMMAND_BYTES_MAX: usize = 4 * 1024;

/// Rows that one step of a rotation seals again.
pub const REKEY_ROWS_MAX: i64 = 500;

/// How long a data key that nothing is sealed with any more is kept, for whoever read it just before it
/// was replaced.
pub const DATA_KEY_KEPT_FOR: Duration = Duration::from_mins(10);

/// How long the keys a bot had may stay good beside its new one.
pub const BOT_KEY_OVERLAP_MAX: Duration = Duration::from_hours(24);

/// Keys of one bot that are good at a time. Of more, the newest count.
pub const BOT_KEYS_LIVE_MAX: i32 = 4;

/// How soon every node reads a bot's new key.
pub const BOT_KEY_READ_WITHIN: Duration = Duration::from_mins(1);

/// How long a capability is good, whatever its platform says.
pub const CAPABILITY_GOOD_FOR_MAX: Duration = Duration::from_mins(15);

/// For how long after its end it is known where a capability acted: what comes too late for it is said there
/// as an ordinary message. The store's sweep forgets it then.
pub const CAPABILITY_PLACE_KEPT_FOR: Duration = Duration::from_hours(24);

/// How soon after its end a capability is gone from the store.
pub const CAPABILITY_GONE_WITHIN: Duration = Duration::from_mins(1);

/// How often capabilities that ended are looked for.
pub const CAPABILITY_PURGE_EVERY: Duration = Duration::from_secs(20);

/// The longest name of a kind of capability.
pub const CAPABILITY_KIND_BYTES_MAX: usize = 128;

/// The longest capability that is kept.
pub const CAPABILITY_BYTES_MAX: usize = 8 * 1024;

const _: () = assert!(
    super::ACCOUNT_KEPT_FOR.as_secs() < BOT_KEY_READ_WITHIN.as_secs(),
    "a bot's new key is read before the old one may be taken back",
);
const _: () = assert!(
    CAPABILITY_PURGE_EVERY.as_secs() * 2 < CAPABILITY_GONE_WITHIN.as_secs(),
    "a capability is gone in time, also if one look failed",
);
