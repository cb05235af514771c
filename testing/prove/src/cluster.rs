//! Cluster: a PostgreSQL of the proof's own, on which a commit is a commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use nightdesk_servers::{Durability, Options, Postgres};

use crate::procfs::{self, signal};

/// Who the desk logs in as. Row-level security binds it.
pub const APP_ROLE: &str = "nightdesk_app";

/// Under the defaults a checkpoint would fall into one phase of a comparison and not into the
/// other. How often functions are called is counted, so that gathering can be seen.
const SETTINGS: [(&str, &str); 3] =
    [("max_wal_size", "8GB"), ("checkpoint_timeout", "1h"), ("track_functions", "pl")];

/// Tables of tenants that row-level security does not bind even for their owner.
const UNWALLED: &str = "
    select count(*) filter (where not (c.relrowsecurity and c.relforcerowsecurity)), count(*)
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and not c.relispartition";

/// A running cluster with fsync on, and a folder that goes with it.
#[derive(Debug)]
pub struct Cluster {
    postgres: Postgres,
    folder: PathBuf,
}

impl Cluster {
    /// Starts it.
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// Starts it with more settings.
    pub fn start_with(more: &[(&str, &str)]) -> Result<Self> {
        let settings = SETTINGS.iter().chain(more);
        let settings = settings.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let postgres = Postgres::start(&Options {
            durability: Durability::Fsync,
            shared_buffers_mib: 512,
            settings: settings.collect(),
            ..Options::default()
        })?;
        // Beside the data, so that the server's guard removes it however we end.
        let folder = postgres.data_dir().with_file_name("prove");
        fs::create_dir(&folder).context("could not make a folder for this proof")?;
        Ok(Self { postgres, folder })
    }

    /// Where the files of this proof are. What runs there ends with the cluster.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The process whose children are all of PostgreSQL.
    pub fn pid(&self) -> u32 {
        self.postgres.pid()
    }

    /// The port on 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.postgres.port()
    }

    /// A database as the superuser sees it.
    pub fn admin_url(&self, database: &str) -> String {
        self.postgres.admin_url(database)
    }

    /// A database as the desk sees it.
    pub fn app_url(&self, database: &str) -> String {
        format!("postgres://{APP_ROLE}@127.0.0.1:{}/{database}", self.port())
    }

    /// Stops the server as a crash would; what was committed is kept.
    pub fn stop_immediate(&mut self) -> Result<()> {
        self.postgres.stop_immediate()
    }

    /// Kills every process of the server at once.
    pub fn kill(&mut self) -> Result<()> {
        let parent = self.pid();
        // First of all it must not start new ones, nor see that its children die.
        signal("STOP", &[parent])?;
        signal("KILL", &[procfs::children(parent)?, vec![parent]].concat())?;
        self.postgres.stop_immediate()
    }

    /// Starts the stopped server again.
    pub fn start_again(&mut self) -> Result<()> {
        self.postgres.start_again()
    }

    /// A client program of the server's version.
    pub fn client(&self, name: &str) -> Command {
        Command::new(self.program(name))
    }

    /// Where a program of the server's version is.
    pub fn program(&self, name: &str) -> PathBuf {
        self.postgres.bin_dir().join(name)
    }

    /// Makes an empty database.
    pub fn create(&self, database: &str) -> Result<()> {
        self.ask("postgres", &format!("create database {database}")).map(drop)
    }

    /// Asks the database something as its superuser: one row a line, columns cut by `|`.
    pub fn ask(&self, database: &str, sql: &str) -> Result<String> {
        let mut psql = self.client("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
        psql.args(["-d", &self.admin_url(database), "-c", sql]);
        output(&mut psql)
    }

    /// Checks that the wall between tenants stands, and says what was found.
    pub fn check_wall(&self, database: &str) -> Result<String> {
        let above =
            format!("select rolsuper or rolbypassrls from pg_roles where rolname = '{APP_ROLE}'");
        let above = self.ask(database, &above)?;
        ensure!(above.trim() == "f", "{APP_ROLE} stands above row-level security");
        let others = format!(
            "select count(*) from pg_stat_activity
             where application_name = 'nightdesk' and usename <> '{APP_ROLE}'"
        );
        let others = self.ask(database, &others)?;
        ensure!(others.trim() == "0", "the desk is logged in as somebody else than {APP_ROLE}");
        let tables = self.ask(database, UNWALLED)?;
        let (open, all) = tables.trim().split_once('|').context("could not count the tables")?;
        ensure!(open == "0" && all != "0", "{open} of {all} tables are not walled off");
        Ok(format!("{APP_ROLE} is bound by it, and it is forced on {all} tables"))
    }
}

/// What a command puts out, if it ends well.
pub fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("could not run {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} ended with {}:\n{said}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("{program} did not put out text"))
}
