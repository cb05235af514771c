//! A PostgreSQL cluster for one run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::binaries;
use crate::folder::Folder;
use crate::owner::Owner;
use crate::process::{self, Process, Signal};

/// The file name of a server's log.
const LOG: &str = "postgres.log";

/// The durability of commits on this cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Commits survive a crash of the machine: `fsync` is on. For measurements and for proofs.
    Fsync,
    /// Commits survive a crash of the server, not of the machine: `fsync` is off. For tests.
    NoFsync,
}

/// The settings of the cluster.
#[derive(Debug, Clone)]
pub struct Options {
    /// The durability of commits.
    pub durability: Durability,
    /// `max_connections`.
    pub connections_max: u32,
    /// `shared_buffers`, in MiB.
    pub shared_buffers_mib: u32,
    /// Further settings by name, given on the command line; they override the ones above.
    pub settings: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::NoFsync,
            connections_max: 200,
            shared_buffers_mib: 128,
            settings: Vec::new(),
        }
    }
}

/// A running cluster with the superuser `postgres`, open to every local user on 127.0.0.1.
#[derive(Debug)]
pub struct Postgres {
    process: Process,
    // Dropped after the server.
    folder: Folder,
    port: u16,
    bin_dir: PathBuf,
    owner: Owner,
    options: Options,
}

impl Postgres {
    /// Creates a cluster and starts it; returns when it accepts connections.
    ///
    /// # Errors
    ///
    /// If no PostgreSQL is installed (the error names the package to install), or it does not start (the error ends
    /// with its log).
    pub fn start(options: &Options) -> Result<Self> {
        let bin_dir = binaries::postgres_bin_dir()?;
        let owner = Owner::find()?;
        let folder = match options.durability {
            Durability::Fsync => Folder::create("nightdesk-pg-", Signal::Quit)?,
            Durability::NoFsync => Folder::create_in_memory("nightdesk-pg-", Signal::Quit)?,
        };
        owner.take_over(folder.path())?;
        init(owner, &bin_dir, folder.path())?;
        let (process, port) = process::on_a_free_port(|port| {
            let command = server_command(owner, &bin_dir, folder.path(), &[]);
            let mut process = spawn(command, folder.path(), port, options)?;
            wait_until_ready(&mut process, &bin_dir, port)?;
            Ok(process)
        })?;
        Ok(Self { process, folder, port, bin_dir, owner, options: options.clone() })
    }

    /// Starts a second server with the same settings on a copy of this cluster's data. `copy` makes the copy in the
    /// folder that it gets, as this server's user.
    ///
    /// # Errors
    ///
    /// If the data cannot be copied, or the server does not start.
    pub fn start_copy(&self, copy: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let folder = Folder::create("nightdesk-pg-", Signal::Quit)?;
        self.owner.take_over(folder.path())?;
        copy(&data_dir(folder.path()))?;
        let (process, port) = process::on_a_free_port(|port| {
            let command = server_command(self.owner, &self.bin_dir, folder.path(), &[]);
            let mut process = spawn(command, folder.path(), port, &self.options)?;
            wait_until_ready(&mut process, &self.bin_dir, port)?;
            Ok(process)
        })?;
        let (bin_dir, owner, options) = (self.bin_dir.clone(), self.owner, self.options.clone());
        Ok(Self { process, folder, port, bin_dir, owner, options })
    }

    /// Returns a command that runs as the server's user, in the server's folder. The program ends with the server.
    pub fn command(&self, program: &str) -> Command {
        let folder = self.folder.path();
        let mut command = self.owner.command(Path::new(program));
        command.current_dir(folder).env("HOME", folder).stdin(Stdio::null());
        command
    }

    /// Starts the server again on another port, as an address moves to a standby.
    ///
    /// # Errors
    ///
    /// If the server does not end or start.
    pub fn move_to_port(&mut self, port: u16) -> Result<()> {
        self.process.end()?;
        self.port = port;
        self.start_again()
    }

    /// Returns the port on 127.0.0.1. It stays the same when the server is started again.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of a database, for the superuser.
    pub fn admin_url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the folder of the binaries: `psql`, `pg_dump` and `pg_ctl` of the same version.
    pub fn bin_dir(&self) -> &Path {
        &self.bin_dir
    }

    /// Returns the data directory.
    pub fn data_dir(&self) -> PathBuf {
        data_dir(self.folder.path())
    }

    /// Returns the file of the server's log.
    pub fn log_file(&self) -> PathBuf {
        self.folder.path().join(LOG)
    }

    /// Returns the process id of the postmaster.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Stops the server as a crash would, without a checkpoint; committed data stays.
    ///
    /// # Errors
    ///
    /// If the server cannot be signalled.
    pub fn stop_immediate(&mut self) -> Result<()> {
        self.process.end()
    }

    /// Starts the stopped server again, on the same port and the same cluster.
    ///
    /// # Errors
    ///
    /// If the server does not start; the error ends with its log.
    pub fn start_again(&mut self) -> Result<()> {
        self.start_again_in(&[])
    }

    /// Starts the stopped server again with additional environment variables, which the next start does not have.
    ///
    /// # Errors
    ///
    /// If the server does not start; the error ends with its log.
    pub fn start_again_in(&mut self, environment: &[(&str, String)]) -> Result<()> {
        let folder = self.folder.path();
        let command = server_command(self.owner, &self.bin_dir, folder, environment);
        self.process = spawn(command, folder, self.port, &self.options)?;
        wait_until_ready(&mut self.process, &self.bin_dir, self.port)
    }

    /// Starts the stopped server again with another durability, as a standby that was set up in another way.
    ///
    /// # Errors
    ///
    /// If the server does not start; the error ends with its log.
    pub fn start_again_with(&mut self, durability: Durability) -> Result<()> {
        self.options.durability = durability;
        self.start_again()
    }

    /// Waits until the server accepts connections after a crash, and starts it again if the crash ended it.
    ///
    /// # Errors
    ///
    /// If the server does not recover; the error ends with its log.
    pub fn recover(&mut self) -> Result<()> {
        let ready = wait_until_ready(&mut self.process, &self.bin_dir, self.port);
        if ready.is_err() && self.process.has_ended()? {
            return self.start_again();
        }
        ready
    }
}

fn data_dir(folder: &Path) -> PathBuf {
    folder.join("data")
}

fn init(owner: Owner, bin_dir: &Path, folder: &Path) -> Result<()> {
    let output = owner
        .command(&bin_dir.join("initdb"))
        .args(["--no-sync", "-A", "trust", "-U", "postgres", "--locale=C.UTF-8", "-E", "UTF8"])
        .arg("-D")
        .arg(data_dir(folder))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .context("could not run initdb")?;
    if !output.status.success() {
        bail!("initdb ended with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Returns the command that starts a server with additional environment variables. Only the server gets them, not the
/// program that changes to its user: a library that is loaded by both finds shared memory of another user.
fn server_command(
    owner: Owner,
    bin_dir: &Path,
    folder: &Path,
    environment: &[(&str, String)],
) -> Command {
    let mut command = owner.command(Path::new("env"));
    command.args(environment.iter().map(|(name, value)| format!("{name}={value}")));
    command.arg(bin_dir.join("postgres"));
    command.arg("-D").arg(data_dir(folder)).current_dir(folder);
    command
}

fn spawn(mut command: Command, folder: &Path, port: u16, options: &Options) -> Result<Process> {
    for (name, value) in settings(port, options) {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    Process::spawn(command, &folder.join(LOG), Signal::Quit)
}

/// Returns the settings for the command line. Later ones override earlier ones.
fn settings(port: u16, options: &Options) -> Vec<(String, String)> {
    // Commits still wait for the write to the log file: a test's committed data must exist after `stop_immediate`.
    let fsync = match options.durability {
        Durability::Fsync => "on",
        Durability::NoFsync => "off",
    };
    let ours = [
        ("listen_addresses", "127.0.0.1".to_owned()),
        ("port", port.to_string()),
        // No socket file: it would be outside the folder, or its path would be too long.
        ("unix_socket_directories", String::new()),
        ("max_connections", options.connections_max.to_string()),
        ("shared_buffers", format!("{}MB", options.shared_buffers_mib)),
        ("fsync", fsync.to_owned()),
        ("full_page_writes", fsync.to_owned()),
        ("timezone", "UTC".to_owned()),
    ];
    let ours = ours.into_iter().map(|(name, value)| (name.to_owned(), value));
    ours.chain(options.settings.iter().cloned()).collect()
}

fn wait_until_ready(process: &mut Process, bin_dir: &Path, port: u16) -> Result<()> {
    process.wait_until("PostgreSQL", || is_ready(bin_dir, port))
}

fn is_ready(bin_dir: &Path, port: u16) -> Result<bool> {
    let status = Command::new(bin_dir.join("pg_isready"))
        .args(["-q", "-h", "127.0.0.1", "-U", "postgres", "-d", "postgres", "-p"])
        .arg(port.to_string())
        .status()
        .context("could not run pg_isready")?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_setting(settings: &[(String, String)], name: &str) -> String {
        let (_, value) = settings.iter().rfind(|(known, _)| known == name).expect("is set");
        value.clone()
    }

    #[test]
    fn fsync_is_off_unless_asked_for() {
        let durable = Options { durability: Durability::Fsync, ..Options::default() };

        assert_eq!(last_setting(&settings(1, &Options::default()), "fsync"), "off");
        assert_eq!(last_setting(&settings(1, &durable), "fsync"), "on");
    }

    #[test]
    fn settings_of_the_caller_win() {
        let own = ("max_connections".to_owned(), "7".to_owned());
        let options = Options { settings: vec![own], ..Options::default() };

        assert_eq!(last_setting(&settings(1, &options), "max_connections"), "7");
    }
}
