//! Migrations: forward only, run by who owns the tables.

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor, PgConnection};

/// The database could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The three roles could not be made.
    #[error("could not make the roles; the first migration needs somebody who may create roles")]
    Roles(#[source] sqlx::Error),
    /// A migration failed; nothing of it was kept.
    #[error("a migration failed")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The database could not be reached.
    #[error("could not reach the database")]
    Unreachable(#[source] sqlx::Error),
}

/// Brings the database up to date. It may be run at any time, also while the desk serves.
pub async fn migrate(options: &PgConnectOptions) -> Result<(), MigrateError> {
    let mut connection = options.connect().await.map_err(MigrateError::Unreachable)?;
    make_roles(&mut connection).await.map_err(MigrateError::Roles)?;
    // Everything belongs to the owner, whoever runs this.
    let owner = sqlx::raw_sql("set role nightdesk_owner");
    connection.execute(owner).await.map_err(MigrateError::Roles)?;
    sqlx::migrate!().run(&mut connection).await?;
    connection.close().await.map_err(MigrateError::Unreachable)
}

/// How often the roles are made anew because somebody else was making them.
const ROLES_TRIES: usize = 10;

/// Roles belong to the server and not to a database: the desk of another database may be making
/// them at this moment, and no lock of ours reaches there.
async fn make_roles(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    for _ in 1..ROLES_TRIES {
        match try_roles(connection).await {
            Err(error) if is_race(&error) => {}
            made => return made,
        }
    }
    try_roles(connection).await
}

async fn try_roles(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(include_str!("../roles.sql"))).await.map(drop)
}

/// The role is there after all, or its row was changed by two at once.
fn is_race(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| ["42710", "23505", "XX000"].contains(&&*code))
}
