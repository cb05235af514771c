//! Runs the real binary as a process.

mod commands;

use std::fs::{self, File, Permissions};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nightdesk_vault::Vault;

use crate::cluster::{Cluster, output};
use crate::crash_points;

/// The signal of a process that aborts.
const SIGABRT: i32 = 6;

/// Maximum open files of a process: each line is one at either end. Many systems start with 1,024 and permit more.
pub const FILES_MAX: usize = 16_384;

/// Time limit for a desk to listen, or to stop.
const PATIENCE: Duration = Duration::from_secs(20);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Number of log lines in an error.
const LOG_LINES_MAX: usize = 20;

/// A rate limit that no measurement reaches.
const MANY: u32 = 1_000_000_000;

/// Rate limits of a desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeskLimits {
    /// Those of production, for proofs of the promises.
    Production,
    /// Practically none but for authors, if there is a number per minute, for measurements of something else.
    Raised {
        /// Messages of one author to one agent per minute.
        author_per_minute: Option<u32>,
    },
}

impl DeskLimits {
    /// Returns the part of a configuration.
    fn settings(self) -> String {
        match self {
            Self::Production => String::new(),
            Self::Raised { author_per_minute } => format!(
                "[limits]\nwebhooks_per_second = {MANY}\nauthor_per_minute = {}\n\
                 sends_per_second = {MANY}\nframes_per_second = {MANY}\n",
                author_per_minute.unwrap_or(MANY)
            ),
        }
    }
}

/// Location and configuration of a desk, in files.
#[derive(Debug)]
pub struct Settings {
    binary: PathBuf,
    folder: PathBuf,
    database: Database,
    config: PathBuf,
    key_file: PathBuf,
    log: PathBuf,
    address: SocketAddr,
    limits: DeskLimits,
}

/// Database URLs of the desk's configuration.
#[derive(Clone, Debug)]
struct Database {
    url: String,
    migrate_url: String,
}

impl Settings {
    /// Writes the configuration of a desk on this database, with a new vault key and raised limits.
    pub fn write(binary: &Path, cluster: &Cluster, database: &str) -> Result<Self> {
        let binary = binary.canonicalize().with_context(|| {
            format!(
                "there is no desk at {}; build it with \
                 `cargo build --release -p nightdesk --features scripted`",
                binary.display()
            )
        })?;
        let folder = cluster.folder().to_owned();
        let key_file = folder.join(format!("{database}.key"));
        fs::write(&key_file, Vault::new_key_file().as_bytes())
            .and_then(|()| fs::set_permissions(&key_file, Permissions::from_mode(0o600)))
            .context("could not write the vault's key")?;
        let (url, migrate_url) = (cluster.app_url(database), cluster.admin_url(database));
        let database_of_it = Database { url, migrate_url };
        let settings = Self {
            config: folder.join(format!("{database}.toml")),
            log: folder.join(format!("{database}.log")),
            address: free_address()?,
            limits: DeskLimits::Raised { author_per_minute: None },
            database: database_of_it,
            binary,
            folder,
            key_file,
        };
        settings.write_config("desk-1", "")?;
        Ok(settings)
    }

    /// Writes the configuration of a node of this name: the same except for its port, its log, which goes into another
    /// folder, and the additional text.
    pub fn node(&self, name: &str, logs: &Path, more: &str) -> Result<Self> {
        let node = Self {
            binary: self.binary.clone(),
            folder: self.folder.clone(),
            database: self.database.clone(),
            config: self.folder.join(format!("{name}.toml")),
            key_file: self.key_file.clone(),
            log: logs.join(format!("{name}.log")),
            address: free_address()?,
            limits: self.limits,
        };
        node.write_config(name, more)?;
        Ok(node)
    }

    /// Sets the rate limits of this desk and of all nodes that are written later.
    pub fn set_limits(&mut self, limits: DeskLimits) -> Result<()> {
        self.limits = limits;
        self.write_config("desk-1", "")
    }

    fn write_config(&self, node: &str, more: &str) -> Result<()> {
        let text = format!(
            "[listen]\naddress = \"{}\"\n[node]\nname = \"{node}\"\n\
             [database]\nurl = \"{}\"\nmigrate_url = \"{}\"\n\
             [vault]\nkey_file = \"{}\"\n{}{more}",
            self.address,
            self.database.url,
            self.database.migrate_url,
            self.key_file.display(),
            self.limits.settings()
        );
        fs::write(&self.config, text).context("could not write the desk's configuration")
    }

    /// Returns the address on which it will listen.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Migrates its database.
    pub fn migrate(&self) -> Result<()> {
        self.migrate_with(&[])
    }

    /// Migrates its database with these environment variables.
    pub fn migrate_with(&self, environment: &[(&str, String)]) -> Result<()> {
        let mut migrate = Command::new(&self.binary);
        migrate.args(["migrate", "--config"]).arg(&self.config).current_dir(&self.folder);
        migrate.envs(environment.iter().map(|(name, value)| (name, value)));
        output(&mut migrate).map(drop)
    }

    /// Returns the vault that seals its keys.
    pub fn vault(&self) -> Result<Vault> {
        let text = fs::read_to_string(&self.key_file).context("could not read the vault's key")?;
        Ok(Vault::from_key_file(&text)?)
    }

    /// Returns the path of the vault's keys.
    pub fn key_file(&self) -> &Path {
        &self.key_file
    }

    /// Returns the whole log of all its starts.
    pub fn log(&self) -> Result<String> {
        let log = fs::read(&self.log).context("could not read the desk's log")?;
        Ok(String::from_utf8_lossy(&log).into_owned())
    }

    /// Starts the desk. Returns when it listens.
    pub fn start(&self) -> Result<Desk> {
        self.start_with(&[])
    }

    /// Starts the desk with these environment variables. Returns when it listens.
    pub fn start_with(&self, environment: &[(&str, String)]) -> Result<Desk> {
        self.start_in(Surroundings { environment, ..Surroundings::default() })
    }

    /// Starts the desk in these surroundings. Returns when it listens.
    pub fn start_in(&self, surroundings: Surroundings<'_>) -> Result<Desk> {
        let Surroundings { environment, folder, log } = surroundings;
        let log = match log {
            Some(log) => log,
            None => OwnedFd::from(
                File::options()
                    .create(true)
                    .append(true)
                    .open(&self.log)
                    .context("could not open the desk's log")?,
            ),
        };
        let child = limited(&self.binary)
            .args(["serve", "--config"])
            .arg(&self.config)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .current_dir(folder.unwrap_or(&self.folder))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .context("could not run the desk")?;
        let mut desk = Desk { child, address: self.address, log: self.log.clone() };
        desk.wait_until_it_listens(crash_points::has_crash_point(environment))?;
        Ok(desk)
    }
}

/// The surroundings of a desk that differ from the usual ones.
#[derive(Debug, Default)]
pub struct Surroundings<'a> {
    /// Additional environment variables.
    pub environment: &'a [(&'a str, String)],
    /// The working folder.
    pub folder: Option<&'a Path>,
    /// The end of the log, instead of a file.
    pub log: Option<OwnedFd>,
}

/// A running desk. Dropping it stops the process.
#[derive(Debug)]
pub struct Desk {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Desk {
    /// Returns its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Kills the process, like a power failure.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill().context("could not kill the desk")?;
        self.child.wait().map(drop).context("could not wait for the desk")
    }

    /// Returns true if the process ended by itself.
    pub fn has_ended(&mut self) -> Result<bool> {
        let status = self.child.try_wait().context("could not look at the desk")?;
        Ok(status.is_some())
    }

    /// Returns true if the process aborted, as it does at a crash point. Fails if it ended in another way.
    pub fn has_aborted(&mut self) -> Result<bool> {
        let Some(status) = self.child.try_wait().context("could not look at the desk")? else {
            return Ok(false);
        };
        ensure!(
            status.signal() == Some(SIGABRT),
            "the desk ended with {status} and did not abort; its log:\n{}",
            self.log_tail()
        );
        Ok(true)
    }

    /// Waits until the process has ended.
    pub fn wait_until_it_ended(&mut self) -> Result<()> {
        self.child.wait().map(drop).context("could not wait for the desk")
    }

    /// Returns the whole log.
    pub fn log(&self) -> String {
        fs::read(&self.log)
            .map(|log| String::from_utf8_lossy(&log).into_owned())
            .unwrap_or_default()
    }

    /// Returns the end of the log.
    pub fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_MAX)..].join("\n")
    }

    /// Waits until the process listens. One with a crash point may have aborted there before the next look, because events
    /// come in as soon as it listens.
    fn wait_until_it_listens(&mut self, has_crash_point: bool) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(self.address).is_err() {
            if has_crash_point && self.has_aborted()? {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait().context("could not look at the desk")? {
                bail!("the desk ended with {status}; its log:\n{}", self.log_tail());
            }
            if Instant::now() > deadline {
                bail!("the desk does not listen; its log:\n{}", self.log_tail());
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // The standard library can only kill. If SIGTERM fails, the kill remains.
        if matches!(self.child.try_wait(), Ok(None)) {
            Command::new("kill").arg(self.pid().to_string()).status().ok();
        }
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(LOOK_EVERY);
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns a command that may open enough files and ends with this process. Its process id is that of the spawned
/// program.
pub fn limited(program: &Path) -> Command {
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--nofile={FILES_MAX}:"))
        .args(["setpriv", "--pdeathsig", "TERM", "--"])
        .arg(program);
    command
}

/// Returns an unused address on this machine.
pub fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("could not bind a port")?;
    listener.local_addr().context("could not read the port")
}
