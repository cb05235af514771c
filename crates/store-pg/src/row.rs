//! The only conversions of the driver's rows and errors into the project's types.

use jiff_sqlx::ToSqlx;
use nightdesk_types::{OverQuota, Quota, StoreError, Timestamp};
use sqlx::postgres::PgDatabaseError;

/// Converts a driver error into a store error.
pub(crate) fn store_error(operation: &'static str, error: sqlx::Error) -> StoreError {
    if let Some(over) = over_quota(&error) {
        return StoreError::quota_exceeded(operation, over);
    }
    if matches!(error, sqlx::Error::Tls(_)) {
        return StoreError::unavailable(operation, TlsError(error));
    }
    if is_temporary(&error) {
        StoreError::unavailable(operation, error)
    } else {
        StoreError::broken(operation, error)
    }
}

/// The server offers no TLS, or its certificate was refused.
#[derive(Debug, thiserror::Error)]
#[error(
    "no TLS connection to the database; off loopback the server needs a certificate for the host in the URL: add \
     ?sslrootcert=FILE to trust its authority, or set sslmode in the URL to connect without verification"
)]
struct TlsError(#[source] sqlx::Error);

/// The code that `keep_quota` raises.
const OVER_QUOTA: &str = "ND001";

/// The code that `current_incarnation` raises. The next check of the history mends it.
const OTHER_HISTORY: &str = "ND003";

/// The code that `no_data_key` raises. The next attempt seals with the newest key.
const DATA_KEY_GONE: &str = "ND004";

fn over_quota(error: &sqlx::Error) -> Option<OverQuota> {
    let error = error.as_database_error()?.try_downcast_ref::<PgDatabaseError>()?;
    let quota = (error.code() == OVER_QUOTA).then(|| Quota::from_slug(error.message()))??;
    Some(OverQuota { quota, allowed: error.detail()?.parse().ok()? })
}

/// Returns true if the same statement may succeed later.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the driver may add kinds; none of the rest passes"
)]
fn is_temporary(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => {
            // Connections, resources, operator intervention, serialisation, locks.
            const PASSING: [&str; 6] = ["08", "53", "55", "57", "40", "25"];
            error.code().is_some_and(|code| {
                code == OTHER_HISTORY
                    || code == DATA_KEY_GONE
                    || PASSING.iter().any(|class| code.starts_with(class))
            })
        }
        _ => false,
    }
}

/// The error for a row with an unknown value.
pub(crate) fn bad_column(table: &'static str, column: &'static str) -> sqlx::Error {
    sqlx::Error::Decode(format!("{table}.{column} has an unknown value").into())
}

/// Converts a timestamp into the driver's type.
pub(crate) fn moment(at: Timestamp) -> jiff_sqlx::Timestamp {
    at.to_sqlx()
}
