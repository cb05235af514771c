//! A database with every migration applied, on a temporary server.
//!
//! Only `store-pg` depends on sqlx, so the files are applied with `psql`, in the order and with the transactions that
//! sqlx would use.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use nightdesk_servers::{Options, Postgres};

use crate::repo::Repo;

/// The roles, which the superuser creates first.
const ROLES: &str = "crates/store-pg/roles.sql";

/// The folder of the migrations, and the role that runs them and owns their objects.
const MIGRATIONS: &str = "crates/store-pg/migrations";
const OWNER: &str = "nightdesk_owner";

/// First line of a migration that must not run in a transaction.
const NO_TRANSACTION: &str = "-- no-transaction";

/// The database to which the migrations are applied.
const DATABASE: &str = "nightdesk";

/// A migrated database. Its server ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Migrated {
    postgres: Postgres,
}

impl Migrated {
    /// Starts a server and applies every migration.
    pub(crate) fn start(repo: &Repo) -> Result<Self> {
        let migrated = Self { postgres: Postgres::start(&Options::default())? };
        let create = format!("create database {DATABASE}");
        repo.output(migrated.psql("postgres").args(["-c", &create]))?;
        repo.output(migrated.psql(DATABASE).arg("-f").arg(repo.path(ROLES)))
            .with_context(|| format!("could not apply {ROLES}"))?;
        for migration in migrations(&repo.path(MIGRATIONS))? {
            migrated.apply(repo, &migration)?;
        }
        Ok(migrated)
    }

    /// Returns the URL of the database.
    pub(crate) fn url(&self) -> String {
        self.postgres.admin_url(DATABASE)
    }

    /// Returns a client program of the server's version.
    pub(crate) fn client(&self, name: &str) -> Command {
        Command::new(self.postgres.bin_dir().join(name))
    }

    /// Returns the rows of a query, one line each.
    pub(crate) fn ask(&self, repo: &Repo, sql: &str) -> Result<Vec<String>> {
        let answer = repo.output(self.psql(DATABASE).args(["-A", "-t", "-c", sql]))?;
        Ok(answer.lines().map(str::to_owned).collect())
    }

    fn apply(&self, repo: &Repo, migration: &Path) -> Result<()> {
        let name = migration.display();
        let text =
            fs::read_to_string(migration).with_context(|| format!("could not read {name}"))?;
        let mut psql = self.psql(DATABASE);
        psql.env("PGOPTIONS", format!("-c role={OWNER}"));
        if !text.starts_with(NO_TRANSACTION) {
            psql.arg("--single-transaction");
        }
        repo.output(psql.arg("-f").arg(migration))
            .with_context(|| format!("could not apply {name}"))?;
        Ok(())
    }

    fn psql(&self, database: &str) -> Command {
        let mut psql = self.client("psql");
        psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &self.postgres.admin_url(database)]);
        psql
    }
}

/// Returns the migrations in order, or none if the folder does not exist yet.
fn migrations(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).context("could not list the migrations")?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let paths: Vec<PathBuf> =
        paths.collect::<Result<_, _>>().context("could not list the migrations")?;
    Ok(in_order(paths))
}

/// Selects and sorts migrations as sqlx does: `VERSION_what.sql`, by version as a number; other files are ignored.
fn in_order(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let numbered = paths.into_iter().filter_map(|path| Some((version(&path)?, path)));
    let mut numbered: Vec<(i64, PathBuf)> = numbered.collect();
    numbered.sort();
    numbered.into_iter().map(|(_, path)| path).collect()
}

fn version(path: &Path) -> Option<i64> {
    let (version, _) = path.file_name()?.to_str()?.strip_suffix(".sql")?.split_once('_')?;
    version.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_come_in_the_order_of_their_numbers() {
        let paths = ["10_b.sql", "README.md", "9_a.sql", "notes.sql", "20260901120000_c.sql"];

        let ordered = in_order(paths.map(PathBuf::from).to_vec());
        assert_eq!(ordered, ["9_a.sql", "10_b.sql", "20260901120000_c.sql"].map(PathBuf::from));
    }

    #[test]
    fn no_folder_means_no_migrations() {
        let nowhere = Path::new("no/such/folder");

        assert_eq!(migrations(nowhere).expect("is fine"), Vec::<PathBuf>::new());
    }
}
