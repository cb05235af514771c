//! Access: how statements are run.
//!
//! A future that is dropped in the middle of `begin` leaves its connection inside a
//! transaction that the next user does not know of, and whose writes are lost. So work is
//! never run in a future that a caller can drop: each method runs in a task of its own. And
//! the pool rolls back whatever a connection comes back with.

use std::time::Duration;

use futures_util::future::BoxFuture;
use nightdesk_types::limits::{LETTER_WRITERS, STATEMENT_WAIT, WRITERS};
use nightdesk_types::planted::{Bug, is_planted};
use nightdesk_types::{StoreError, TenantScope};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Executor, PgConnection, PgPool, Postgres, Transaction};

use crate::row::broken;

/// Connections for transactions.
const CONNECTIONS_MAX: u32 = 8;

/// Connections for single statements: one per writer, one for reads, one for acks, two for the addresses
/// and receipts of letters, and some for doors.
const SINGLES_CONNECTIONS_MAX: u32 = 12;

const _: () = assert!(
    SINGLES_CONNECTIONS_MAX as usize > WRITERS + 4,
    "every worker has its connection, and doors have some too"
);

const _: () = assert!(
    CONNECTIONS_MAX as usize > 2 * LETTER_WRITERS,
    "letters leave more than half of the connections to others"
);

/// A connection is replaced after this, so that a moved server is found again.
const CONNECTION_LIFETIME: Duration = Duration::from_mins(30);

/// The URL of a database cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the database URL cannot be read; it should look like postgres://user@host:5432/name")]
pub struct UrlError(#[source] sqlx::Error);

/// Where a database is and as whom we log in.
pub fn connect_options(url: &str, password: Option<&str>) -> Result<PgConnectOptions, UrlError> {
    let options: PgConnectOptions = url.parse().map_err(UrlError)?;
    Ok(match password {
        Some(password) => options.password(password),
        None => options,
    })
}

/// The store.
#[derive(Clone, Debug)]
pub struct Pg {
    /// For work in transactions.
    pool: PgPool,
    /// For single statements. Nobody begins a transaction on these connections, so there is
    /// nothing to roll back and a round trip is saved.
    singles: PgPool,
}

impl Pg {
    /// Gets ready to reach the database; it is reached when it is first needed.
    pub fn connect(url: &str, password: Option<&str>) -> Result<Self, UrlError> {
        let options = bounded(connect_options(url, password)?);
        if is_planted(Bug::NoRollback) {
            let pool = pool_options(CONNECTIONS_MAX).connect_lazy_with(options);
            return Ok(Self { pool: pool.clone(), singles: pool });
        }
        let pool = rolling_back(pool_options(CONNECTIONS_MAX));
        Ok(Self {
            pool: pool.connect_lazy_with(options.clone()),
            singles: pool_options(SINGLES_CONNECTIONS_MAX).connect_lazy_with(options),
        })
    }

    /// Runs work for one tenant in a transaction.
    pub(crate) async fn scoped<T, W>(
        &self,
        operation: &'static str,
        scope: TenantScope,
        work: W,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, sqlx::Result<T>> + Send + 'static,
    {
        let pool = self.pool.clone();
        uncancelled(operation, async move {
            let mut transaction = begun(&pool, scope).await?;
            let answer = work(&mut transaction).await?;
            transaction.commit().await?;
            Ok(answer)
        })
        .await
    }

    /// Runs one statement, which is a transaction by itself and says for whom it works: a
    /// gathered one, a door, or a function of a tenant that `works_for` it.
    pub(crate) async fn single<T, W>(
        &self,
        operation: &'static str,
        work: W,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, sqlx::Result<T>> + Send + 'static,
    {
        let pool = self.singles.clone();
        uncancelled(operation, async move { work(&mut *pool.acquire().await?).await }).await
    }

    /// Lets every connection go.
    pub async fn close(&self) {
        self.singles.close().await;
        self.pool.close().await;
    }
}

/// Runs database work to its end, whoever waits for it.
async fn uncancelled<T: Send + 'static>(
    operation: &'static str,
    work: impl Future<Output = sqlx::Result<T>> + Send + 'static,
) -> Result<T, StoreError> {
    if is_planted(Bug::NoRollback) {
        return work.await.map_err(|error| broken(operation, error));
    }
    match tokio::spawn(work).await {
        Ok(done) => done.map_err(|error| broken(operation, error)),
        Err(panicked) => Err(StoreError::broken(operation, panicked)),
    }
}

/// Begins a transaction for a tenant. A connection that died while it lay idle, as all do when the
/// server restarts, shows itself here, where nothing is done yet: then it is the next one's turn.
async fn begun(pool: &PgPool, scope: TenantScope) -> sqlx::Result<Transaction<'static, Postgres>> {
    for _ in 0..pool.options().get_max_connections() {
        match begin(pool, scope).await {
            Err(error) if is_of_a_dead_connection(&error) => {}
            begun => return begun,
        }
    }
    begin(pool, scope).await
}

async fn begin(pool: &PgPool, scope: TenantScope) -> sqlx::Result<Transaction<'static, Postgres>> {
    // In one round trip. An id of ours is nothing but digits and dashes, and so is an actor's, but for its
    // kind. Who acts is what the audit log says of every change in here.
    let (tenant, actor) = (scope.tenant().uuid(), scope.actor());
    let begin =
        format!("begin; set local app.tenants = '{{{tenant}}}'; set local app.actor = '{actor}'");
    pool.begin_with(AssertSqlSafe(begin)).await
}

fn is_of_a_dead_connection(error: &sqlx::Error) -> bool {
    // What a server says last when it is stopped, or crashes.
    let said_last = |said: &str| ["57P01", "57P02"].contains(&said);
    let said = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    matches!(error, sqlx::Error::Io(_)) || said.is_some_and(|code| said_last(&code))
}

/// No statement, lock or idle transaction outlives what its caller waits for.
fn bounded(options: PgConnectOptions) -> PgConnectOptions {
    options.application_name("nightdesk").options([
        ("statement_timeout", format!("{}ms", STATEMENT_WAIT.as_millis())),
        ("lock_timeout", "1s".to_owned()),
        // The rollback of a connection that comes back clean is worth no notice.
        ("client_min_messages", "error".to_owned()),
        ("idle_in_transaction_session_timeout", "5s".to_owned()),
    ])
}

fn pool_options(connections_max: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections_max)
        .acquire_timeout(STATEMENT_WAIT)
        .max_lifetime(CONNECTION_LIFETIME)
        // A dead connection shows itself by failing the statement: where one begins a transaction,
        // the next is tried; elsewhere the caller comes again.
        .test_before_acquire(false)
}

/// Whatever a connection comes back with is rolled back before somebody else gets it.
pub(crate) fn rolling_back(options: PgPoolOptions) -> PgPoolOptions {
    options.after_release(|connection, _| {
        Box::pin(async move {
            connection.execute(sqlx::raw_sql("rollback")).await?;
            Ok(true)
        })
    })
}

#[cfg(test)]
mod tests;
