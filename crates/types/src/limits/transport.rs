//! Limits of TLS on the public address, of proxies in front of it, and of clients' addresses.

use std::time::Duration;

/// Timeout of a TLS handshake, from the accepted connection to its last message.
pub const HANDSHAKE_WAIT: Duration = Duration::from_secs(5);

/// TLS handshakes in progress on a node. Above it, the system queues further connections.
pub const HANDSHAKES_MAX: usize = 1_024;

/// TLS handshakes in progress from one address; an IPv6 network of 64 bits counts as one. Above it, the connection is
/// closed.
pub const HANDSHAKES_PER_ADDRESS_MAX: usize = HANDSHAKES_MAX / 4;

/// Connections that completed their handshake and wait to be served.
pub const HANDSHAKES_DONE_MAX: usize = 64;

/// Interval at which a node rereads the certificate and the key that it serves.
pub const CERTIFICATE_LOOK_EVERY: Duration = Duration::from_secs(5);

/// Size limit of a certificate file or a key file.
pub const CERTIFICATE_BYTES_MAX: u64 = 256 * 1024;

/// Trusted proxies that the configuration may list, as addresses or networks.
pub const TRUSTED_PROXIES_MAX: usize = 64;

/// Gateways whose last address is remembered; above it, the oldest are dropped.
pub const DIALLING_GATEWAYS_MAX: usize = 200_000;

/// Time within which the same gateway from two addresses causes a warning.
pub const TWO_ADDRESSES_WITHIN: Duration = Duration::from_mins(1);

const _: () = assert!(
    HANDSHAKES_DONE_MAX < HANDSHAKES_PER_ADDRESS_MAX && HANDSHAKES_PER_ADDRESS_MAX < HANDSHAKES_MAX,
    "one address never takes every place, and completed handshakes are the smallest queue",
);
