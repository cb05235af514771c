//! Starts a PostgreSQL for the proof, with durable commits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nightdesk_servers::{Durability, Options, Postgres};

use crate::procfs::{self, signal};
use crate::runbook::{self, ServerCommand, Step};

/// The desk's database role. Row-level security applies to it.
pub const APP_ROLE: &str = "nightdesk_app";

/// Under the defaults a checkpoint would fall into one phase of a comparison and not into the other. Function calls are
/// counted to show the gathering of events.
const SETTINGS: [(&str, &str); 3] =
    [("max_wal_size", "8GB"), ("checkpoint_timeout", "1h"), ("track_functions", "pl")];

/// Word of the server's log for an error after which it ends all its processes.
const PANIC: &str = "PANIC:";

/// Time limit for a standby to follow, or to stop.
const STANDBY_WITHIN: Duration = Duration::from_secs(30);

/// Time limit of the lines of a page that stand together. Recovery from a base backup is the slow case.
const LINES_WITHIN: Duration = Duration::from_mins(5);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Number of tenant tables without forced row-level security, and number of all tenant tables. A token is of a user, also
/// if it reaches only one tenant.
const UNWALLED: &str = "
    select count(*) filter (where not (c.relrowsecurity and c.relforcerowsecurity)), count(*)
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and not c.relispartition and c.relname <> 'api_tokens'";

/// A running cluster with fsync on, and a folder with the same lifetime.
#[derive(Debug)]
pub struct Cluster {
    postgres: Postgres,
    standby: Option<Postgres>,
    /// Servers that were replaced by their standby. Their folders end with the cluster.
    former: Vec<Postgres>,
    folder: PathBuf,
}

impl Cluster {
    /// Starts the cluster.
    pub fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// Starts the cluster with additional settings.
    pub fn start_with(more: &[(&str, &str)]) -> Result<Self> {
        let settings = SETTINGS.iter().chain(more);
        let settings = settings.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let postgres = Postgres::start(&Options {
            durability: Durability::Fsync,
            shared_buffers_mib: 512,
            settings: settings.collect(),
            ..Options::default()
        })?;
        // Beside the data, so that the server's guard removes it in every case.
        let folder = postgres.data_dir().with_file_name("prove");
        fs::create_dir(&folder).context("could not make a folder for this proof")?;
        Ok(Self { postgres, standby: None, former: Vec::new(), folder })
    }

    /// Returns the folder of this proof's files. Processes that run there end with the cluster.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the id of the parent process of PostgreSQL.
    pub fn pid(&self) -> u32 {
        self.postgres.pid()
    }

    /// Returns the port on 127.0.0.1.
    pub const fn port(&self) -> u16 {
        self.postgres.port()
    }

    /// Returns the URL of a database for the superuser.
    pub fn admin_url(&self, database: &str) -> String {
        self.postgres.admin_url(database)
    }

    /// Returns the URL of a database for the desk.
    pub fn app_url(&self, database: &str) -> String {
        format!("postgres://{APP_ROLE}@127.0.0.1:{}/{database}", self.port())
    }

    /// Stops the server like a crash. Committed data survives.
    pub fn stop_immediate(&mut self) -> Result<()> {
        self.postgres.stop_immediate()
    }

    /// Kills every process of the server at once.
    pub fn kill(&mut self) -> Result<()> {
        let parent = self.pid();
        // The parent is stopped first, so that it neither starts new processes nor sees its children die.
        signal("STOP", &[parent])?;
        signal("KILL", &[procfs::children(parent)?, vec![parent]].concat())?;
        self.postgres.stop_immediate()
    }

    /// Returns the ids of all processes of the server, the parent first.
    pub fn pids(&self) -> Result<Vec<u32>> {
        let parent = self.pid();
        Ok([vec![parent], procfs::children(parent)?].concat())
    }

    /// Returns the data directory of the server.
    pub fn data_dir(&self) -> PathBuf {
        self.postgres.data_dir()
    }

    /// Returns how often the server's log says that it panicked.
    pub fn panics(&self) -> Result<usize> {
        let log = fs::read(self.postgres.log_file()).context("could not read the server's log")?;
        Ok(String::from_utf8_lossy(&log).matches(PANIC).count())
    }

    /// Waits until the server accepts connections after a crash, and starts it again if the crash ended it.
    pub fn recover(&mut self) -> Result<()> {
        self.postgres.recover()
    }

    /// Starts a standby by the commands of the page. If it is synchronous, commits wait for it from then on.
    pub fn add_standby(&mut self, is_synchronous: bool) -> Result<()> {
        let steps = runbook::steps(runbook::FAILOVER, "Make a standby")?;
        let [Step::Shell(copy), Step::Server(ServerCommand::Start)] = &*steps else {
            bail!("docs/failover.md does not copy the data and start the standby: {steps:?}")
        };
        let standby = self.postgres.start_copy(|data| {
            let data = ("STANDBY_DATA", data.display().to_string());
            self.run_lines(copy, &[("PRIMARY_URL", self.admin_url("postgres")), data]).map(drop)
        })?;
        self.standby = Some(standby);
        if is_synchronous {
            let lines = runbook::shell_lines(runbook::FAILOVER, "Make it synchronous")?;
            self.run_lines(&lines, &[("PRIMARY_URL", self.admin_url("postgres"))])?;
            // Commits wait only for a standby that the server knows as synchronous.
            let state = "select count(*) from pg_stat_replication where sync_state = 'sync'";
            let deadline = Instant::now() + STANDBY_WITHIN;
            while self.ask("postgres", state)?.trim() != "1" {
                ensure!(Instant::now() < deadline, "the standby does not follow");
                thread::sleep(LOOK_EVERY);
            }
        }
        Ok(())
    }

    /// Stops the stream to the standby: it lacks every later commit.
    pub fn cut_standby(&self) -> Result<()> {
        let standby = self.standby.as_ref().context("there is no standby")?;
        let url = standby.admin_url("postgres");
        self.ask_at(&url, "alter system set primary_conninfo = ''")?;
        self.ask_at(&url, "select pg_reload_conf()")?;
        let receivers = "select count(*) from pg_stat_wal_receiver";
        let deadline = Instant::now() + STANDBY_WITHIN;
        while self.ask_at(&url, receivers)?.trim() != "0" {
            ensure!(Instant::now() < deadline, "the standby still follows");
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Kills the server, moves its address to the standby, and promotes the standby by the commands of the page.
    pub fn fail_over(&mut self) -> Result<()> {
        let port = self.port();
        self.kill()?;
        let mut standby = self.standby.take().context("there is no standby")?;
        standby.move_to_port(port)?;
        self.former.push(std::mem::replace(&mut self.postgres, standby));
        let lines = runbook::shell_lines(runbook::FAILOVER, "Fail over")?;
        let promoted = self.run_lines(&lines, &[("STANDBY_URL", self.admin_url("postgres"))])?;
        ensure!(promoted.trim() == "t", "the standby was not promoted: {promoted}");
        Ok(())
    }

    /// Runs lines of a page in a shell, as the server's user and with these variables. Returns their output.
    pub fn run_lines(&self, lines: &str, variables: &[(&str, String)]) -> Result<String> {
        let script = format!("PATH={}:$PATH\n{lines}", self.postgres.bin_dir().display());
        let mut shell = self.postgres.command("timeout");
        shell.arg(LINES_WITHIN.as_secs().to_string());
        shell.args(["bash", "-euo", "pipefail", "-c", &script]);
        shell.envs(variables.iter().map(|(name, value)| (name, value)));
        output(&mut shell).with_context(|| format!("the lines are:\n{lines}"))
    }

    /// Starts or stops the server, in place of a page's `pg_ctl`.
    pub fn obey(&mut self, command: ServerCommand) -> Result<()> {
        match command {
            ServerCommand::Start => self.start_again(),
            ServerCommand::Stop => self.stop_immediate(),
            ServerCommand::Restart => {
                self.stop_immediate()?;
                self.start_again()
            }
        }
    }

    /// Starts the stopped server again.
    pub fn start_again(&mut self) -> Result<()> {
        self.postgres.start_again()
    }

    /// Starts the stopped server again with additional environment variables.
    pub fn start_again_in(&mut self, environment: &[(&str, String)]) -> Result<()> {
        self.postgres.start_again_in(environment)
    }

    /// Returns a command for a client program of the server's version.
    pub fn client(&self, name: &str) -> Command {
        Command::new(self.program(name))
    }

    /// Returns the path of a program of the server's version.
    pub fn program(&self, name: &str) -> PathBuf {
        self.postgres.bin_dir().join(name)
    }

    /// Creates an empty database.
    pub fn create(&self, database: &str) -> Result<()> {
        self.ask("postgres", &format!("create database {database}")).map(drop)
    }

    /// Runs a query as the superuser. Returns one row per line, columns separated by `|`.
    pub fn ask(&self, database: &str, sql: &str) -> Result<String> {
        self.ask_at(&self.admin_url(database), sql)
    }

    fn ask_at(&self, url: &str, sql: &str) -> Result<String> {
        let mut psql = self.client("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
        psql.args(["-d", url, "-c", sql]);
        output(&mut psql)
    }

    /// Checks that row-level security separates the tenants. Returns a summary.
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

/// Returns the output of a command, if it succeeds.
pub fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("could not run {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} ended with {}:\n{said}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("{program} did not put out text"))
}
