//! Runs statements.
//!
//! A future that is dropped in the middle of `begin` leaves its connection inside a transaction that the next user does
//! not know of, and the next user's writes are lost. So no work runs in a future that a caller can drop: a method gives
//! its work to `run_to_end!`, which runs it in a task of its own. In addition, the pool rolls back every returned
//! connection.
//!
//! A server that vanishes without closing its connections answers nothing, and cannot end a statement either. So this
//! node ends each wait for it by its own clock, and closes the connection.

use std::io;
use std::time::Duration;

use futures_util::future::BoxFuture;
use nightdesk_types::StoreError;
use nightdesk_types::limits::{STATEMENT_ANSWER_WAIT, TRANSACTION_ANSWER_WAIT, UPKEEP_ANSWER_WAIT};
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Executor, PgConnection, PgPool, Postgres};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tracing::Instrument;

use crate::row::store_error;

/// Runs the work of an operation to its end, even if the caller is dropped, and waits for its result. The work gets a
/// connection, owns all else that it uses, and may return early with `?`.
macro_rules! run_to_end {
    ($operation:expr, |$connection:ident| $work:expr) => {
        $operation.run(Box::new(move |$connection| Box::pin(async move { $work }))).await
    };
}

/// The work of an operation. Boxes, because code that is generic over each method's work takes minutes to compile.
type Work<T> =
    Box<dyn for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, sqlx::Result<T>> + Send>;

/// A method's access to the database, for `run_to_end!`.
pub(crate) struct Operation {
    name: &'static str,
    pool: PgPool,
    /// The statements that begin the transaction, if the operation needs one.
    begin: Option<String>,
    /// Longest wait for the end of the work.
    answer_wait: Duration,
}

impl Operation {
    /// Returns an operation of one statement on a connection of this pool.
    pub(crate) const fn single_on(name: &'static str, pool: PgPool) -> Self {
        Self { name, pool, begin: None, answer_wait: STATEMENT_ANSWER_WAIT }
    }

    /// Returns an operation of one statement that may take longer than a caller waits for others.
    pub(crate) const fn upkeep_on(name: &'static str, pool: PgPool) -> Self {
        Self { name, pool, begin: None, answer_wait: UPKEEP_ANSWER_WAIT }
    }

    /// Returns an operation in a transaction that these statements begin.
    pub(crate) const fn transaction_on(name: &'static str, pool: PgPool, begin: String) -> Self {
        Self { name, pool, begin: Some(begin), answer_wait: TRANSACTION_ANSWER_WAIT }
    }

    /// Runs work in its own task, in a span below the caller's.
    pub(crate) async fn run<T: Send + 'static>(self, work: Work<T>) -> Result<T, StoreError> {
        let operation = self.name;
        let work = self.connect(work);
        let (sender, receiver) = oneshot::channel();
        run_in_task(operation, Box::pin(async move { drop(sender.send(work.await)) })).await?;
        let result = receiver.await.map_err(|lost| StoreError::broken(operation, lost))?;
        result.map_err(|error| store_error(operation, error))
    }

    async fn connect<T>(self, work: Work<T>) -> sqlx::Result<T> {
        let mut connection = match &self.begin {
            Some(begin) => begin_transaction(&self.pool, begin).await?,
            None => self.pool.acquire().await?,
        };
        let done = timeout(self.answer_wait, async {
            let result = work(&mut connection).await?;
            if self.begin.is_some() {
                connection.execute(sqlx::raw_sql("commit")).await?;
            }
            Ok(result)
        });
        let Ok(result) = done.await else { return Err(close_silent(connection)) };
        release(connection);
        result
    }
}

/// The task returns nothing, so that the runtime's code for tasks is compiled once and not for each type of result.
async fn run_in_task(
    operation: &'static str,
    work: BoxFuture<'static, ()>,
) -> Result<(), StoreError> {
    let span = tracing::debug_span!("store.run", operation);
    let finished = tokio::spawn(work.instrument(span)).await;
    finished.map_err(|panicked| StoreError::broken(operation, panicked))
}

/// Starts work that ends by itself and that several callers wait for, so that no single caller can drop it.
pub(crate) fn run_in_background(operation: &'static str, work: BoxFuture<'static, ()>) {
    let span = tracing::debug_span!("store.run", operation);
    drop(tokio::spawn(work.instrument(span)));
}

/// Returns a connection to its pool, which rolls back and checks that the server answers. The driver would wait for the
/// answer without end, and the pool would lack the connection meanwhile.
fn release(mut connection: PoolConnection<Postgres>) {
    let returned = connection.return_to_pool();
    let returned = async move { drop(timeout(STATEMENT_ANSWER_WAIT, returned).await) };
    run_in_background("return a connection", Box::pin(returned));
}

/// Closes a connection on which the server does not answer, without a word to the server. The outcome of its work is
/// unknown.
fn close_silent(connection: PoolConnection<Postgres>) -> sqlx::Error {
    drop(connection.detach());
    io::Error::new(io::ErrorKind::TimedOut, "the database did not answer in time").into()
}

/// Begins a transaction. A connection that died while idle, as all do when the server restarts, fails here, where
/// nothing is executed yet; then the next connection is tried.
async fn begin_transaction(pool: &PgPool, begin: &str) -> sqlx::Result<PoolConnection<Postgres>> {
    for _ in 0..pool.options().get_max_connections() {
        match begin_on_next(pool, begin).await {
            Err(error) if is_of_a_dead_connection(&error) => {}
            connection => return connection,
        }
    }
    begin_on_next(pool, begin).await
}

async fn begin_on_next(pool: &PgPool, begin: &str) -> sqlx::Result<PoolConnection<Postgres>> {
    let mut connection = pool.acquire().await?;
    let answer = connection.execute(sqlx::raw_sql(AssertSqlSafe(begin)));
    let Ok(answer) = timeout(STATEMENT_ANSWER_WAIT, answer).await else {
        return Err(close_silent(connection));
    };
    match answer {
        Ok(_) => Ok(connection),
        Err(error) => {
            release(connection);
            Err(error)
        }
    }
}

fn is_of_a_dead_connection(error: &sqlx::Error) -> bool {
    // The last codes that a server sends when it stops or crashes.
    let is_last = |code: &str| ["57P01", "57P02"].contains(&code);
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    // After a silence the caller has waited long enough.
    let is_cut = |error: &io::Error| error.kind() != io::ErrorKind::TimedOut;
    matches!(error, sqlx::Error::Io(error) if is_cut(error))
        || code.is_some_and(|code| is_last(&code))
}
