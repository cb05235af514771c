//! Limits of users: sessions, login links, API tokens and broken glass.

use std::time::Duration;

/// Requests of one user per minute.
pub const OFFICE_PER_MINUTE: u32 = 1_200;

/// Time without a request after which a session ends.
pub const SESSION_IDLE: Duration = Duration::from_hours(2);

/// Time after which a session ends in any case.
pub const SESSION_LIFE: Duration = Duration::from_hours(12);

/// Minimum interval between two records of a session's or a token's use.
pub const USE_RECORDED_EVERY: Duration = Duration::from_mins(1);

/// Time that a login link is valid.
pub const LOGIN_LINK_LIFE: Duration = Duration::from_mins(15);

/// Time within which a login at a provider must be finished.
pub const LOGIN_ATTEMPT_LIFE: Duration = Duration::from_mins(10);

/// Default lifetime of an API token.
pub const API_TOKEN_LIFE: Duration = Duration::from_hours(90 * 24);

/// Longest lifetime of an API token.
pub const API_TOKEN_LIFE_MAX: Duration = Duration::from_hours(366 * 24);

/// Live API tokens of one user.
pub const API_TOKENS_MAX: i64 = 50;

/// Roles of one user.
pub const USER_ROLES_MAX: usize = 200;

/// Longest name of a user or a token, and longest email address.
pub const USER_NAME_BYTES_MAX: usize = 200;

/// Longest secret of a session, a link or a token that is looked up.
pub const USER_SECRET_BYTES_MAX: usize = 128;

/// Longest time for which an operator may read a tenant's messages.
pub const OPEN_GLASS_LIFE_MAX: Duration = Duration::from_hours(8);

/// Time within which a request to read a tenant's messages must be approved.
pub const GLASS_REQUEST_LIFE: Duration = Duration::from_hours(24);

/// Longest reason of such a request.
pub const GLASS_REASON_BYTES_MAX: usize = 500;

/// Open streams of one user's pages on a node. A page that is not visible has none.
pub const LIVE_STREAMS_PER_USER_MAX: usize = 12;

/// Open streams of all users' pages on a node.
pub const LIVE_STREAMS_MAX: usize = 200;

/// Shortest interval at which the rows of an open page are read again.
pub const LIVE_EVERY: Duration = Duration::from_secs(2);

/// Rest after a slow read of an open page, in multiples of the read's time.
pub const LIVE_REST: u32 = 20;

/// Lifetime of a stream of a page. The page opens another one.
pub const LIVE_STREAM_LASTS: Duration = Duration::from_mins(10);

/// Interval of keep-alive comments on a stream without changes.
pub const LIVE_KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Providers of logins.
pub const LOGIN_PROVIDERS_MAX: usize = 8;

/// Time that a provider's description is used before it is read again.
pub const PROVIDER_FRESH_FOR: Duration = Duration::from_hours(1);

const _: () = assert!(
    SESSION_IDLE.as_secs() < SESSION_LIFE.as_secs()
        && USE_RECORDED_EVERY.as_secs() * 10 < SESSION_IDLE.as_secs(),
    "a session that is used does not become idle",
);
const _: () = assert!(
    API_TOKEN_LIFE.as_secs() <= API_TOKEN_LIFE_MAX.as_secs(),
    "a default is within its bound",
);
const _: () = assert!(
    LIVE_STREAMS_PER_USER_MAX < LIVE_STREAMS_MAX
        && LIVE_STREAM_LASTS.as_secs() < SESSION_IDLE.as_secs(),
    "one user leaves streams to others, and a stream is shorter than a session",
);
