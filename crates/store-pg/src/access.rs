//! The store and its connections.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_types::limits::{
    LETTER_WRITERS, STATEMENT_WAIT, UPKEEP_LOCK_WAIT, UPKEEP_STATEMENT_WAIT, WRITERS,
};
use nightdesk_types::{TenantScope, is_loopback_host};
use nightdesk_vault::Vault;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{Executor, PgConnection, PgPool};

use crate::bodies::BodyKeys;
use crate::history::HistoryWatch;
use crate::lookup::Lookups;
use crate::operation::Operation;

/// Connections for transactions.
const CONNECTIONS_MAX: u32 = 8;

/// Connections for single statements: one per writer, one for reads, one for acks, two for the addresses and receipts of
/// letters, and some for door functions.
const SINGLES_CONNECTIONS_MAX: u32 = 12;

/// Connections for lookups of names that unproven callers claim.
const LOOKUP_CONNECTIONS_MAX: u32 = 2;

/// Connections for upkeep, which has other timeouts: one for the tables, one for chats, and two for the causes of alerts.
const UPKEEP_CONNECTIONS_MAX: u32 = 4;

/// Longest wait for a lock.
const LOCK_WAIT: Duration = Duration::from_secs(1);

const _: () = assert!(
    SINGLES_CONNECTIONS_MAX as usize > WRITERS + 4,
    "every worker has its connection, and doors have some too"
);

const _: () = assert!(
    CONNECTIONS_MAX as usize > 2 * LETTER_WRITERS,
    "letters leave more than half of the connections to others"
);

/// The lifetime of a connection. The limit lets the pool find a server that moved.
const CONNECTION_LIFETIME: Duration = Duration::from_mins(30);

/// Raises a session to `synchronous_commit = on`, and lowers none: the operator may have chosen `remote_apply`. An
/// operator who sets a value in the URL is obeyed, and the check at the start refuses it.
const AWAIT_COMMITS: &str = "select set_config('synchronous_commit', 'on', false) from pg_settings \
     where name = 'synchronous_commit' and setting in ('off', 'local', 'remote_write') \
       and source <> 'client'";

/// The URL of a database cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("the database URL cannot be read; it should look like postgres://user@host:5432/name")]
pub struct UrlError(#[source] sqlx::Error);

/// Returns the address and the login of a database. The connection to another machine needs TLS with a certificate of
/// that name, unless the URL sets another `sslmode`: the driver's own default would use a plain connection if an attacker
/// in between asks for it.
pub fn connect_options(url: &str, password: Option<&str>) -> Result<PgConnectOptions, UrlError> {
    let mut options: PgConnectOptions = url.parse().map_err(UrlError)?;
    if is_remote(&options) && !sets_ssl_mode(url) {
        options = options.ssl_mode(PgSslMode::VerifyFull);
    }
    Ok(match password {
        Some(password) => options.password(password),
        None => options,
    })
}

fn is_remote(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    // The driver uses a host that is a path as the folder of a socket.
    let is_socket = options.get_socket().is_some() || host.starts_with('/');
    !is_socket && !is_loopback_host(host)
}

/// Returns true if the URL has the parameter, under either name that the driver knows.
fn sets_ssl_mode(url: &str) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let query = query.split_once('#').map_or(query, |(query, _)| query);
    let mut names =
        query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name));
    names.any(|name| matches!(name, "sslmode" | "ssl-mode"))
}

/// The store.
#[derive(Clone, Debug)]
pub struct Pg {
    /// For work in transactions.
    pool: PgPool,
    /// For single statements. No code begins a transaction on these connections, so they need no rollback, which saves
    /// a round trip.
    singles: PgPool,
    /// For names that unproven callers claim.
    pub(crate) lookups: Arc<Lookups>,
    /// For upkeep. Its statements may run longer than those for which a caller waits, and give up sooner on a lock behind
    /// which others would queue.
    upkeep: PgPool,
    /// The history of the database, which each new connection checks.
    pub(crate) history: Arc<HistoryWatch>,
    /// The keys that seal and open messages.
    pub(crate) bodies: Arc<BodyKeys>,
}

impl Pg {
    /// Creates the store, which seals messages with the data keys that this vault opens. It connects to the database on
    /// first use.
    pub fn connect(url: &str, password: Option<&str>, vault: Vault) -> Result<Self, UrlError> {
        let login = connect_options(url, password)?;
        let options = with_timeouts(login.clone(), STATEMENT_WAIT, LOCK_WAIT);
        let patient = with_timeouts(login, UPKEEP_STATEMENT_WAIT, UPKEEP_LOCK_WAIT);
        let history = Arc::<HistoryWatch>::default();
        let bodies = Arc::new(BodyKeys::new(vault, Arc::clone(&history)));
        Ok(Self::open(options, patient, history, bodies))
    }

    /// Creates a store of the same database with connections of its own. Both know the same history and keys.
    #[must_use]
    pub fn connect_apart(&self) -> Self {
        let options = PgConnectOptions::clone(&self.pool.connect_options());
        let patient = PgConnectOptions::clone(&self.upkeep.connect_options());
        Self::open(options, patient, Arc::clone(&self.history), Arc::clone(&self.bodies))
    }

    fn open(
        options: PgConnectOptions,
        patient: PgConnectOptions,
        history: Arc<HistoryWatch>,
        bodies: Arc<BodyKeys>,
    ) -> Self {
        let pool = with_rollback(pool_options(CONNECTIONS_MAX));
        let singles = pool_options(SINGLES_CONNECTIONS_MAX);
        let lookups = pool_options(LOOKUP_CONNECTIONS_MAX).connect_lazy_with(options.clone());
        Self {
            pool: with_history(pool, &history).connect_lazy_with(options.clone()),
            singles: with_history(singles, &history).connect_lazy_with(options),
            lookups: Arc::new(Lookups::new(lookups)),
            upkeep: pool_options(UPKEEP_CONNECTIONS_MAX).connect_lazy_with(patient),
            history,
            bodies,
        }
    }

    /// Returns an operation for one tenant, in a transaction.
    pub(crate) fn for_tenant(&self, name: &'static str, scope: TenantScope) -> Operation {
        // One round trip. Ids consist of digits and dashes only, and so do actors apart from their kind. The audit log
        // records the actor of every change in this transaction.
        let (tenant, actor) = (scope.tenant().uuid(), scope.actor());
        let begin = format!(
            "begin; set local app.tenants = '{{{tenant}}}'; set local app.actor = '{actor}'"
        );
        Operation::transaction_on(name, self.pool.clone(), begin)
    }

    /// Returns an operation whose transaction begins with a door, and works for the tenants of the rows found there.
    pub(crate) fn across_tenants(&self, name: &'static str) -> Operation {
        Operation::transaction_on(name, self.pool.clone(), "begin".to_owned())
    }

    /// Returns an operation of one statement, which is a transaction by itself and names its tenants itself: a gathered
    /// statement, a door function, or a tenant's function that calls `works_for`.
    pub(crate) fn single(&self, name: &'static str) -> Operation {
        Operation::single_on(name, self.singles.clone())
    }

    /// Returns an operation of upkeep, of one statement.
    pub(crate) fn upkeep(&self, name: &'static str) -> Operation {
        Operation::upkeep_on(name, self.upkeep.clone())
    }

    /// Closes every connection.
    pub async fn close(&self) {
        self.lookups.pool.close().await;
        self.upkeep.close().await;
        self.singles.close().await;
        self.pool.close().await;
    }
}

/// Sets timeouts, so that no statement, lock or idle transaction outlives its caller's wait.
fn with_timeouts(
    options: PgConnectOptions,
    statement_wait: Duration,
    lock_wait: Duration,
) -> PgConnectOptions {
    options.application_name("nightdesk").options([
        ("statement_timeout", format!("{}ms", statement_wait.as_millis())),
        ("lock_timeout", format!("{}ms", lock_wait.as_millis())),
        // A rollback on a clean connection would produce a notice.
        ("client_min_messages", "error".to_owned()),
        ("idle_in_transaction_session_timeout", "5s".to_owned()),
    ])
}

fn pool_options(connections_max: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections_max)
        .acquire_timeout(STATEMENT_WAIT)
        .max_lifetime(CONNECTION_LIFETIME)
        .after_connect(|connection, _| Box::pin(await_commits(connection)))
        // A dead connection fails its statement. If the statement begins a transaction, the next connection is tried;
        // otherwise the caller retries.
        .test_before_acquire(false)
}

/// Makes the commits of a new connection wait for the disk.
async fn await_commits(connection: &mut PgConnection) -> sqlx::Result<()> {
    connection.execute(sqlx::raw_sql(AWAIT_COMMITS)).await?;
    Ok(())
}

/// Rolls back every returned connection before its next use.
pub(crate) fn with_rollback(options: PgPoolOptions) -> PgPoolOptions {
    options.after_release(|connection, _| {
        Box::pin(async move {
            connection.execute(sqlx::raw_sql("rollback")).await?;
            Ok(true)
        })
    })
}

/// Checks the history of the database on every new connection, before its first use.
fn with_history(options: PgPoolOptions, history: &Arc<HistoryWatch>) -> PgPoolOptions {
    let history = Arc::clone(history);
    options.after_connect(move |connection, _| {
        let history = Arc::clone(&history);
        Box::pin(async move {
            await_commits(connection).await?;
            history.check(connection).await
        })
    })
}

#[cfg(test)]
mod tests;
