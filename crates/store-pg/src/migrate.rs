//! Migrations: forward only, run by who owns the tables.

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};

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
    let roles = sqlx::raw_sql(include_str!("../roles.sql"));
    connection.execute(roles).await.map_err(MigrateError::Roles)?;
    // Everything belongs to the owner, whoever runs this.
    let owner = sqlx::raw_sql("set role nightdesk_owner");
    connection.execute(owner).await.map_err(MigrateError::Roles)?;
    sqlx::migrate!().run(&mut connection).await?;
    connection.close().await.map_err(MigrateError::Unreachable)
}
