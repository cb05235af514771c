//! Limits of calls to URLs that tenants set.

use std::time::Duration;

/// Longest URL that a tenant may set.
pub const OUTSIDE_URL_BYTES_MAX: usize = 2_048;

/// Timeout of a call to a tenant's URL, from the DNS query to the last byte.
pub const OUTSIDE_CALL_WAIT: Duration = Duration::from_secs(5);

/// Timeout of connecting, including TLS.
pub const OUTSIDE_CONNECT_WAIT: Duration = Duration::from_secs(3);

/// Timeout of one DNS query; each name is queried twice.
pub const OUTSIDE_LOOK_UP_WAIT: Duration = Duration::from_secs(1);

/// Bytes of a response body that are read.
pub const OUTSIDE_BODY_BYTES_MAX: usize = 4 * 1024;

/// Longest head of a response.
pub const OUTSIDE_HEAD_BYTES_MAX: usize = 16 * 1024;

/// Headers of a response.
pub const OUTSIDE_HEADERS_MAX: usize = 64;

/// Addresses of one name that are tried in sequence.
pub const OUTSIDE_DIALS_MAX: usize = 3;

/// Calls per second to one host, for all tenants together: sixty in a minute.
pub const OUTSIDE_HOST_PER_SECOND: u32 = 1;

/// Calls per second to one address under all its names.
pub const OUTSIDE_ADDRESS_PER_SECOND: u32 = 20;

/// Calls per second of one tenant.
pub const OUTSIDE_TENANT_PER_SECOND: u32 = 10;

/// Concurrent calls of one tenant.
pub const OUTSIDE_TENANT_AT_ONCE_MAX: u32 = 4;

/// Calls per second to one host that the operator trusts, such as a login provider: a login takes up to three, and many
/// people log in at the same hour.
pub const TRUSTED_HOST_PER_SECOND: u32 = 50;

/// Calls per second to all hosts that the operator trusts.
pub const TRUSTED_PER_SECOND: u32 = 200;

/// Concurrent calls to hosts that the operator trusts.
pub const TRUSTED_AT_ONCE_MAX: u32 = 64;

/// Concurrent calls of a node.
pub const OUTSIDE_AT_ONCE_MAX: u32 = 1_024;

/// Hosts, addresses and tenants in each rate-limit table.
pub const OUTSIDE_PACED_MAX: usize = 100_000;

/// Retry delay of a call that finds no free slot, if no better estimate exists.
pub const OUTSIDE_NO_ROOM_WAIT: Duration = Duration::from_secs(1);

/// DNS answers in the cache.
pub const OUTSIDE_NAMES_KEPT_MAX: u64 = 1_024;

/// Longest time that a DNS answer stays in the cache, even if its TTL is longer.
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
const _: () = assert!(
    TRUSTED_HOST_PER_SECOND <= TRUSTED_PER_SECOND && TRUSTED_AT_ONCE_MAX < OUTSIDE_AT_ONCE_MAX,
    "no single host that the operator trusts takes what is there for all",
);
