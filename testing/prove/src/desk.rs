//! Desk: the real binary, as a process of its own.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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

/// Where a desk is and what it is told, in files.
#[derive(Debug)]
pub struct Settings {
    binary: PathBuf,
    folder: PathBuf,
    config: PathBuf,
    key_file: PathBuf,
    log: PathBuf,
    address: SocketAddr,
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
        let in_folder = |ending: &str| folder.join(format!("{database}.{ending}"));
        let (config, key_file, log) = (in_folder("toml"), in_folder("key"), in_folder("log"));
        let address = free_address()?;
        let text = format!(
            "[listen]\naddress = \"{address}\"\n\
             [database]\nurl = \"{}\"\nmigrate_url = \"{}\"\n\
             [vault]\nkey_file = \"{}\"\n",
            cluster.app_url(database),
            cluster.admin_url(database),
            key_file.display()
        );
        fs::write(&key_file, Vault::new_key_file().as_bytes())
            .context("could not write the vault's key")?;
        fs::write(&config, text).context("could not write the desk's configuration")?;
        Ok(Self { binary, folder, config, key_file, log, address })
    }

    /// Another node of the same cell, of this name.
    pub fn beside(&self, name: &str) -> Result<Self> {
        let text = fs::read_to_string(&self.config).context("could not read a configuration")?;
        let address = free_address()?;
        let text = text.replace(&self.address.to_string(), &address.to_string());
        let beside = |file: &Path, ending: &str| file.with_extension(format!("{name}.{ending}"));
        let (config, log) = (beside(&self.config, "toml"), beside(&self.log, "log"));
        fs::write(&config, format!("{text}[node]\nname = \"{name}\"\n"))
            .context("could not write the other desk's configuration")?;
        let (binary, folder) = (self.binary.clone(), self.folder.clone());
        Ok(Self { binary, folder, config, key_file: self.key_file.clone(), log, address })
    }

    /// Brings its database up to date.
    pub fn migrate(&self) -> Result<()> {
        let mut migrate = Command::new(&self.binary);
        migrate.args(["migrate", "--config"]).arg(&self.config).current_dir(&self.folder);
        output(&mut migrate).map(drop)
    }

    /// The vault its keys are sealed in.
    pub fn vault(&self) -> Result<Vault> {
        let text = fs::read_to_string(&self.key_file).context("could not read the vault's key")?;
        Ok(Vault::from_key_file(&text)?)
    }

    /// Starts the desk; returns when it listens.
    pub fn start(&self) -> Result<Desk> {
        let log = File::create(&self.log).context("could not open the desk's log")?;
        let child = limited(&self.binary)
            .args(["serve", "--config"])
            .arg(&self.config)
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

fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("could not bind a port")?;
    listener.local_addr().context("could not read the port")
}
