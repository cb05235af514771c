//! Runs migrations: forward only, as the owner of the tables.
//!
//! # Promise
//!
//! A database may be newer than a binary and never older: a release works with the additions of the next one
//! (decision 0019).

use std::path::Path;

use nightdesk_types::StoreError;
use sqlx::migrate::Migrator;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor, PgConnection};

use crate::Pg;

/// An error that prevents the migration of the database.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The three roles could not be created.
    #[error("could not create the roles; run the first migration as a user that may create roles")]
    Roles(#[source] sqlx::Error),
    /// A migration failed and was rolled back.
    #[error("a migration failed")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The database could not be reached.
    #[error("could not reach the database")]
    Unreachable(#[source] sqlx::Error),
}

/// Migrates the database, up to the migrations in the folder `further` if there is one. It may run at any time, also
/// while the desk serves.
pub async fn migrate(
    options: &PgConnectOptions,
    further: Option<&Path>,
) -> Result<(), MigrateError> {
    let mut connection = options.connect().await.map_err(MigrateError::Unreachable)?;
    make_roles(&mut connection).await.map_err(MigrateError::Roles)?;
    // All objects belong to the owner role, whichever user runs this.
    let owner = sqlx::raw_sql("set role nightdesk_owner");
    connection.execute(owner).await.map_err(MigrateError::Roles)?;
    known_migrations(further).await?.run(&mut connection).await?;
    // A node reads this table at its start to check for missing migrations.
    let seen = sqlx::raw_sql("grant select on _sqlx_migrations to nightdesk_app");
    connection.execute(seen).await.map_err(sqlx::migrate::MigrateError::from)?;
    connection.close().await.map_err(MigrateError::Unreachable)
}

/// Returns the migrations of this release. Migrations of a newer release in the database are not an error, because its
/// nodes may run already.
async fn known_migrations(further: Option<&Path>) -> Result<Migrator, sqlx::migrate::MigrateError> {
    let mut migrator = sqlx::migrate!();
    if let Some(folder) = further {
        let next = Migrator::new(folder).await?;
        migrator = Migrator::with_migrations(migrator.iter().chain(next.iter()).cloned().collect());
    }
    migrator.set_ignore_missing(true);
    Ok(migrator)
}

impl Pg {
    /// Returns the first migration of this release, or in the folder `further`, that the database lacks, by its file's
    /// name.
    pub async fn find_missing_migration(
        &self,
        further: Option<&Path>,
    ) -> Result<Option<String>, StoreError> {
        let operation = "read which migrations ran";
        let known = known_migrations(further)
            .await
            .map_err(|error| StoreError::broken(operation, error))?;
        let applied =
            run_to_end!(self.single(operation), |connection| read_applied(connection).await)?;
        let lacking = known.iter().find(|migration| !applied.contains(&migration.version));
        Ok(lacking.map(|lacking| {
            format!("{}_{}", lacking.version, lacking.description.replace(' ', "_"))
        }))
    }
}

/// Not a checked query: the table is the driver's, and not in the schema.
async fn read_applied(connection: &mut PgConnection) -> sqlx::Result<Vec<i64>> {
    let applied = sqlx::query_scalar("select version from _sqlx_migrations where success");
    match applied.fetch_all(connection).await {
        // The table does not exist or is not readable, so no migration ran yet.
        Err(error) if has_code(&error, &["42P01", "42501"]) => Ok(Vec::new()),
        applied => applied,
    }
}

/// The number of tries to create the roles while another process creates them.
const ROLES_TRIES: usize = 10;

/// Roles belong to the server and not to a database: the desk of another database may create them at the same time, and
/// no lock covers both databases.
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

/// Returns true if the role exists by now, or if two processes changed its row at the same time.
fn is_race(error: &sqlx::Error) -> bool {
    has_code(error, &["42710", "23505", "XX000"])
}

fn has_code(error: &sqlx::Error, codes: &[&str]) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| codes.contains(&&*code))
}
