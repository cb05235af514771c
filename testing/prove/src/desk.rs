//! Desk: the real binary, as a process of its own.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nightdesk_vault::Vault;

use crate::cluster::{Cluster, output};

/// Open files a process of a proof may have: each line is one at either end. Many systems
/// start with 1,024, and let anybody have more.
const FILES_MAX: u32 = 16_384;

/// How long a desk may take to listen, or to stop.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often we look whether it does.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Lines of its log that go into an error.
const LOG_LINES_MAX: usize = 20;

/// A rate no proof comes to: they measure something else.
const MANY: u32 = 1_000_000_000;

/// Where a desk is and what it is told, in files.
#[derive(Debug)]
pub struct Settings {
    binary: PathBuf,
    folder: PathBuf,
    database: Database,
    config: PathBuf,
    key_file: PathBuf,
    log: PathBuf,
    address: SocketAddr,
    author_per_minute: u32,
}

/// Where the truth is, as the desk's configuration names it.
#[derive(Clone, Debug)]
struct Database {
    url: String,
    migrate_url: String,
}

impl Settings {
    /// Writes down what a desk over this database is told, with a new key for its vault.
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
            .context("could not write the vault's key")?;
        let (url, migrate_url) = (cluster.app_url(database), cluster.admin_url(database));
        let database_of_it = Database { url, migrate_url };
        let settings = Self {
            config: folder.join(format!("{database}.toml")),
            log: folder.join(format!("{database}.log")),
            address: free_address()?,
            author_per_minute: MANY,
            database: database_of_it,
            binary,
            folder,
            key_file,
        };
        settings.write_config("desk-1", "")?;
        Ok(settings)
    }

    /// Writes down what a node of this name is told: the same, but for its port, its log, which
    /// goes into another folder, and what more it is told.
    pub fn node(&self, name: &str, logs: &Path, more: &str) -> Result<Self> {
        let node = Self {
            binary: self.binary.clone(),
            folder: self.folder.clone(),
            database: self.database.clone(),
            config: self.folder.join(format!("{name}.toml")),
            key_file: self.key_file.clone(),
            log: logs.join(format!("{name}.log")),
            address: free_address()?,
            author_per_minute: self.author_per_minute,
        };
        node.write_config(name, more)?;
        Ok(node)
    }

    /// Lets an author write to an agent so often, and no more.
    pub fn limit_authors(&mut self, per_minute: u32) -> Result<()> {
        self.author_per_minute = per_minute;
        self.write_config("desk-1", "")
    }

    fn write_config(&self, node: &str, more: &str) -> Result<()> {
        let text = format!(
            "[listen]\naddress = \"{}\"\n[node]\nname = \"{node}\"\n\
             [database]\nurl = \"{}\"\nmigrate_url = \"{}\"\n\
             [vault]\nkey_file = \"{}\"\n\
             [limits]\nwebhooks_per_second = {MANY}\nauthor_per_minute = {}\n\
             sends_per_second = {MANY}\nframes_per_second = {MANY}\n{more}",
            self.address,
            self.database.url,
            self.database.migrate_url,
            self.key_file.display(),
            self.author_per_minute
        );
        fs::write(&self.config, text).context("could not write the desk's configuration")
    }

    /// Where it will listen.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Brings its database up to date.
    pub fn migrate(&self) -> Result<()> {
        self.migrate_with(&[])
    }

    /// The same with something in its environment.
    pub fn migrate_with(&self, environment: &[(&str, String)]) -> Result<()> {
        let mut migrate = Command::new(&self.binary);
        migrate.args(["migrate", "--config"]).arg(&self.config).current_dir(&self.folder);
        migrate.envs(environment.iter().map(|(name, value)| (name, value)));
        output(&mut migrate).map(drop)
    }

    /// The vault its keys are sealed in.
    pub fn vault(&self) -> Result<Vault> {
        let text = fs::read_to_string(&self.key_file).context("could not read the vault's key")?;
        Ok(Vault::from_key_file(&text)?)
    }

    /// Where the vault's keys are.
    pub fn key_file(&self) -> &Path {
        &self.key_file
    }

    /// Runs a command of the binary to its end.
    pub fn command(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Result<Output> {
        let mut command = Command::new(&self.binary);
        command.args(arguments).arg("--config").arg(&self.config).current_dir(&self.folder);
        command.envs(environment.iter().copied());
        command.output().context("could not run a command of the desk")
    }

    /// Starts the desk; returns when it listens.
    pub fn start(&self) -> Result<Desk> {
        self.start_with(&[])
    }

    /// Starts the desk with something in its environment; returns when it listens.
    pub fn start_with(&self, environment: &[(&str, String)]) -> Result<Desk> {
        let log = File::options().create(true).append(true).open(&self.log);
        let log = log.context("could not open the desk's log")?;
        let child = limited(&self.binary)
            .args(["serve", "--config"])
            .arg(&self.config)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .context("could not run the desk")?;
        let mut desk = Desk { child, address: self.address, log: self.log.clone() };
        desk.wait_until_it_listens()?;
        Ok(desk)
    }
}

/// A running desk. Asked to stop when dropped.
#[derive(Debug)]
pub struct Desk {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Desk {
    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Kills it, as a machine that loses power would.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill().context("could not kill the desk")?;
        self.child.wait().map(drop).context("could not wait for the desk")
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> Result<bool> {
        let status = self.child.try_wait().context("could not look at the desk")?;
        Ok(status.is_some())
    }

    /// Waits until it has ended.
    pub fn wait_until_it_ended(&mut self) -> Result<()> {
        self.child.wait().map(drop).context("could not wait for the desk")
    }

    /// All that it logged.
    pub fn log(&self) -> String {
        fs::read(&self.log)
            .map(|log| String::from_utf8_lossy(&log).into_owned())
            .unwrap_or_default()
    }

    /// The end of what it logged.
    pub fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_MAX)..].join("\n")
    }

    fn wait_until_it_listens(&mut self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(self.address).is_err() {
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
        // The standard library can only kill. If asking fails, that is what is left.
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

/// A command that may open enough files and ends when we do, with the process id of what is
/// spawned.
pub fn limited(program: &Path) -> Command {
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--nofile={FILES_MAX}:"))
        .args(["setpriv", "--pdeathsig", "TERM", "--"])
        .arg(program);
    command
}

/// An address on this machine at which nobody listens.
pub fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("could not bind a port")?;
    listener.local_addr().context("could not read the port")
}
