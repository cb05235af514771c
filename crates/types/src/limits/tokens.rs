//! Limits of tokens, of signing keys and of the ways in which gateways get their secrets.

use std::time::Duration;

/// Lifetime of an access token that the desk issues.
pub const ACCESS_TOKEN_LIFE: Duration = Duration::from_hours(1);

/// Clock difference that the check of an access token tolerates.
pub const ACCESS_TOKEN_LEEWAY: Duration = Duration::from_secs(30);

/// Longest access token that is parsed. The desk's own have about 600 bytes.
pub const ACCESS_TOKEN_BYTES_MAX: usize = 4 * 1024;

/// Default lifetime of an enrolment token.
pub const ENROLMENT_GOOD_FOR: Duration = Duration::from_mins(10);

/// Longest lifetime of an enrolment token.
pub const ENROLMENT_GOOD_FOR_MAX: Duration = Duration::from_hours(24);

/// Retention of an expired enrolment, in days, so that a late use gets the reason.
pub const ENROLMENT_KEPT_DAYS: i32 = 30;

/// Time that a gateway's older secrets stay valid after a new enrolment.
pub const ENROLMENT_OVERLAP: Duration = Duration::from_hours(24);

/// Longest time that a gateway's older secrets stay valid after a rotation.
pub const GATEWAY_OVERLAP_MAX: Duration = Duration::from_hours(30 * 24);

/// Time that a signing key is published before its first use.
pub const SIGNING_KEY_KNOWN_BEFORE: Duration = Duration::from_hours(24);

/// Time that a signing key is used.
pub const SIGNING_KEY_LIFE: Duration = Duration::from_hours(30 * 24);

/// Time that a signing key is accepted after the next one came into use.
pub const SIGNING_KEY_KEPT_AFTER: Duration = Duration::from_hours(24);

/// Longest age of a node's cached signing keys. A withdrawn key is accepted for this time.
pub const SIGNING_KEYS_KEPT_FOR: Duration = Duration::from_mins(5);

/// Minimum interval between two reads of the signing keys, also if a token names an unknown key.
pub const SIGNING_KEYS_AGAIN: Duration = Duration::from_secs(10);

/// Time that a refresh token stays valid after its exchange: the response may have been lost, or two processes of one
/// agent refreshed at the same time.
pub const REFRESH_OVERLAP: Duration = Duration::from_mins(10);

/// Hours that an exchanged refresh token is remembered. A later use of it ends its session.
pub const REFRESH_KEPT_HOURS: i32 = 24;

/// Longest refresh token that is parsed. The desk's own have 140 bytes.
pub const REFRESH_TOKEN_BYTES_MAX: usize = 256;

/// Longest token of an external issuer that is parsed.
pub const ISSUED_TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Longest lifetime of an external issuer's token.
pub const ISSUED_TOKEN_LIFE_MAX: Duration = Duration::from_hours(24);

/// Longest name of a tenant, client, session or key in an external issuer's token.
pub const ISSUED_NAME_BYTES_MAX: usize = 512;

/// Trusted external issuers.
pub const ISSUERS_MAX: usize = 64;

/// Largest key set that is read from an issuer.
pub const ISSUER_KEYS_BYTES_MAX: usize = 64 * 1024;

/// Keys of one issuer.
pub const ISSUER_KEYS_MAX: usize = 64;

/// Shortest RSA key that is accepted.
pub const ISSUER_RSA_BYTES_MIN: usize = 2_048 / 8;

/// Longest RSA key that is accepted: the cost of a check grows with the length.
pub const ISSUER_RSA_BYTES_MAX: usize = 4_096 / 8;

/// Time that an issuer's keys are used before they are read again.
pub const ISSUER_KEYS_FRESH_FOR: Duration = Duration::from_mins(10);

/// Time that an issuer's keys are used if they cannot be read again.
pub const ISSUER_KEYS_STALE_FOR: Duration = Duration::from_hours(24);

/// Minimum interval between two reads of an issuer's keys.
pub const ISSUER_KEYS_READ_EVERY: Duration = Duration::from_mins(1);

/// Time within which a gateway that provisions itself again gets the same secret: it provisions once per platform and
/// uses the first response.
pub const PROVISION_SAME_SECRET: Duration = Duration::from_mins(10);

/// Time that the secret of an earlier boot stays valid.
pub const PROVISION_OVERLAP: Duration = Duration::from_hours(24);

/// Provisioned secrets of a gateway; above it, the oldest are removed.
pub const PROVISIONED_SECRETS_MAX: i64 = 8;

/// Scopes that a gateway may name when it provisions itself.
pub const ROUTE_KEYS_MAX: usize = 256;

const _: () = assert!(
    ACCESS_TOKEN_LEEWAY.as_secs() * 10 < ACCESS_TOKEN_LIFE.as_secs()
        && ENROLMENT_GOOD_FOR.as_secs() <= ENROLMENT_GOOD_FOR_MAX.as_secs()
        && ENROLMENT_OVERLAP.as_secs() <= GATEWAY_OVERLAP_MAX.as_secs(),
    "a leeway is small beside what it is a leeway of, and a default is within its bound",
);
const _: () = assert!(
    ACCESS_TOKEN_LIFE.as_secs() + ACCESS_TOKEN_LEEWAY.as_secs() < SIGNING_KEY_KEPT_AFTER.as_secs()
        && SIGNING_KEYS_KEPT_FOR.as_secs() * 2 < SIGNING_KEY_KNOWN_BEFORE.as_secs()
        && SIGNING_KEY_KNOWN_BEFORE.as_secs() < SIGNING_KEY_LIFE.as_secs(),
    "a key is known to every node before it signs, and is believed as long as what it signed is good",
);
const _: () = assert!(
    ISSUER_KEYS_READ_EVERY.as_secs() < ISSUER_KEYS_FRESH_FOR.as_secs()
        && ISSUER_KEYS_FRESH_FOR.as_secs() < ISSUER_KEYS_STALE_FOR.as_secs(),
    "keys are read again before they are stale",
);
const _: () = assert!(
    PROVISION_SAME_SECRET.as_secs() < PROVISION_OVERLAP.as_secs(),
    "a secret outlives the boot that asked for it",
);
