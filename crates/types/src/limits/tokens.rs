//! Bounds of tokens, of the keys that sign them, and of how gateways come to their secrets.

use std::time::Duration;

/// How long an access token of ours is good.
pub const ACCESS_TOKEN_LIFE: Duration = Duration::from_hours(1);

/// How far the clocks of two nodes may be apart for an access token.
pub const ACCESS_TOKEN_LEEWAY: Duration = Duration::from_secs(30);

/// The longest access token that is looked at. Ours have about 600 bytes.
pub const ACCESS_TOKEN_BYTES_MAX: usize = 4 * 1024;

/// How long an enrolment token is good if nobody says otherwise.
pub const ENROLMENT_GOOD_FOR: Duration = Duration::from_mins(10);

/// How long an enrolment token may be good.
pub const ENROLMENT_GOOD_FOR_MAX: Duration = Duration::from_hours(24);

/// Days after its end for which an enrolment is kept, so that a late one is told why.
pub const ENROLMENT_KEPT_DAYS: i32 = 30;

/// How long a gateway's older secrets stay good when it is enrolled again.
pub const ENROLMENT_OVERLAP: Duration = Duration::from_hours(24);

/// How long before its first use a signing key is made known.
pub const SIGNING_KEY_KNOWN_BEFORE: Duration = Duration::from_hours(24);

/// How long a signing key is used.
pub const SIGNING_KEY_LIFE: Duration = Duration::from_hours(30 * 24);

/// How long a signing key is believed after the next one came into use.
pub const SIGNING_KEY_KEPT_AFTER: Duration = Duration::from_hours(24);

/// How old the signing keys a node remembers may be. One that was taken out of use is believed for
/// so long.
pub const SIGNING_KEYS_KEPT_FOR: Duration = Duration::from_mins(5);

/// They are read again sooner if a token names one that is not among them, but not sooner than this.
pub const SIGNING_KEYS_AGAIN: Duration = Duration::from_secs(10);

/// How long a refresh token is good after it was traded for the next: the answer may have been lost,
/// or two processes of one agent asked at once.
pub const REFRESH_OVERLAP: Duration = Duration::from_mins(10);

/// Hours a traded refresh token is remembered, so that whoever shows it again ends its session.
pub const REFRESH_KEPT_HOURS: i32 = 24;

/// The longest refresh token that is looked at. Ours have 140 bytes.
pub const REFRESH_TOKEN_BYTES_MAX: usize = 256;

/// The longest token of another issuer that is looked at.
pub const ISSUED_TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The longest life of a token of another issuer.
pub const ISSUED_TOKEN_LIFE_MAX: Duration = Duration::from_hours(24);

/// The longest name of a tenant, client, session or key in a token of another issuer.
pub const ISSUED_NAME_BYTES_MAX: usize = 512;

/// Issuers that may be trusted.
pub const ISSUERS_MAX: usize = 64;

/// The longest set of keys that is read from an issuer.
pub const ISSUER_KEYS_BYTES_MAX: usize = 64 * 1024;

/// Keys one issuer may have.
pub const ISSUER_KEYS_MAX: usize = 64;

/// The shortest RSA key that is believed, ...
pub const ISSUER_RSA_BYTES_MIN: usize = 2_048 / 8;

/// ... and the longest: the work grows with it.
pub const ISSUER_RSA_BYTES_MAX: usize = 4_096 / 8;

/// How long an issuer's keys are used before they are read again.
pub const ISSUER_KEYS_FRESH_FOR: Duration = Duration::from_mins(10);

/// How long they are used if they cannot be read again.
pub const ISSUER_KEYS_STALE_FOR: Duration = Duration::from_hours(24);

/// How often an issuer's keys are read at most.
pub const ISSUER_KEYS_READ_EVERY: Duration = Duration::from_mins(1);

/// A gateway that provisions itself again within this is given the same secret: it asks once per
/// platform, and keeps the first answer.
pub const PROVISION_SAME_SECRET: Duration = Duration::from_mins(10);

/// How long the secret of an earlier boot stays good.
pub const PROVISION_OVERLAP: Duration = Duration::from_hours(24);

/// Provisioned secrets a gateway has at a time; of more, the oldest go.
pub const PROVISIONED_SECRETS_MAX: i64 = 8;

/// Scopes a gateway may name when it provisions itself.
pub const ROUTE_KEYS_MAX: usize = 256;

const _: () = assert!(
    ACCESS_TOKEN_LEEWAY.as_secs() * 10 < ACCESS_TOKEN_LIFE.as_secs()
        && ENROLMENT_GOOD_FOR.as_secs() <= ENROLMENT_GOOD_FOR_MAX.as_secs(),
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
