//! Bounds of calls to addresses that tenants name.

use std::time::Duration;

/// The longest URL a tenant may name.
pub const OUTSIDE_URL_BYTES_MAX: usize = 2_048;

/// How long a call to a tenant's URL may take, from looking up its name to the last byte.
pub const OUTSIDE_CALL_WAIT: Duration = Duration::from_secs(5);

/// How long connecting may take, TLS included.
pub const OUTSIDE_CONNECT_WAIT: Duration = Duration::from_secs(3);

/// How long a name server may take; it is asked twice.
pub const OUTSIDE_LOOK_UP_WAIT: Duration = Duration::from_secs(1);

/// How much of an answer is read.
pub const OUTSIDE_BODY_BYTES_MAX: usize = 4 * 1024;

/// How long the head of an answer may be.
pub const OUTSIDE_HEAD_BYTES_MAX: usize = 16 * 1024;

/// Headers an answer may have.
pub const OUTSIDE_HEADERS_MAX: usize = 64;

/// Addresses of one name that are dialled, one after the other.
pub const OUTSIDE_DIALS_MAX: usize = 3;

/// Calls to one host in a second, of all tenants together; so sixty in a minute.
pub const OUTSIDE_HOST_PER_SECOND: u32 = 1;

/// Calls to one address in a second, whatever its names.
pub const OUTSIDE_ADDRESS_PER_SECOND: u32 = 20;

/// Calls of one tenant in a second.
pub const OUTSIDE_TENANT_PER_SECOND: u32 = 10;

/// Calls of one tenant at a time.
pub const OUTSIDE_TENANT_AT_ONCE_MAX: u32 = 4;

/// Calls of a node at a time.
pub const OUTSIDE_AT_ONCE_MAX: u32 = 1_024;

/// Hosts, addresses and tenants whose rate is kept at a time, of each.
pub const OUTSIDE_PACED_MAX: usize = 100_000;

/// How long a call waits that finds no room, when nobody can say how long it will be.
pub const OUTSIDE_NO_ROOM_WAIT: Duration = Duration::from_secs(1);

/// Answers of name servers that are kept, ...
pub const OUTSIDE_NAMES_KEPT_MAX: u64 = 1_024;

/// ... and for how long at most, whatever their owner says.
pub const OUTSIDE_NAME_KEPT_FOR: Duration = Duration::from_secs(30);

const _: () = assert!(
    2 * OUTSIDE_LOOK_UP_WAIT.as_millis() + OUTSIDE_CONNECT_WAIT.as_millis()
        <= OUTSIDE_CALL_WAIT.as_millis(),
    "a slow name server and a slow host are told apart",
);
const _: () = assert!(
    OUTSIDE_HOST_PER_SECOND <= OUTSIDE_TENANT_PER_SECOND
        && OUTSIDE_TENANT_PER_SECOND <= OUTSIDE_ADDRESS_PER_SECOND
        && OUTSIDE_TENANT_AT_ONCE_MAX < OUTSIDE_AT_ONCE_MAX,
    "no single host, tenant or address takes what is there for all",
);
