//! One server process: spawned, waited for, signalled, reaped.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Maximum number of start attempts, each on another port: another process may take the first port.
const STARTS_MAX: usize = 3;

/// Maximum time of a start. Crash recovery on a busy machine is the slow case.
const READY_SECS_MAX: u64 = 60;

/// Maximum time of an end before the server is killed.
const END_SECS_MAX: u64 = 10;

/// Polling interval for a start or an end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Lines of the log in an error.
const LOG_LINES_MAX: usize = 20;

/// The signal that ends a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// PostgreSQL's immediate shutdown: no checkpoint, and no waiting for clients.
    Quit,
    /// Redis's shutdown.
    Term,
}

impl Signal {
    /// Returns its name, as `kill -s` takes it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Quit => "QUIT",
            Self::Term => "TERM",
        }
    }
}

/// A spawned server. Ended and reaped when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
    ending: Signal,
}

impl Process {
    /// Spawns the command with its output in the log; `ending` is the signal that ends it.
    pub(crate) fn spawn(mut command: Command, log: &Path, ending: Signal) -> Result<Self> {
        let out = File::options().create(true).append(true).open(log);
        let out = out.with_context(|| format!("could not open {}", log.display()))?;
        let err = out.try_clone().context("could not open the log twice")?;
        let child = command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            // In a separate process group: Ctrl-C in the terminal is for the tests, not for the server.
            .process_group(0)
            .spawn()
            .with_context(|| format!("could not run {}", command.get_program().display()))?;
        Ok(Self { child, log: log.to_owned(), ending })
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Polls until the server is ready, has ended, or took too long.
    pub(crate) fn wait_until(
        &mut self,
        name: &str,
        ready: impl Fn() -> Result<bool>,
    ) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(READY_SECS_MAX);
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().context("could not check the server")? {
                bail!("{name} ended with {status}; its log:\n{}", self.log_tail());
            }
            if ready()? {
                return Ok(());
            }
            thread::sleep(LOOK_EVERY);
        }
        bail!("{name} was not up within {READY_SECS_MAX} s; its log:\n{}", self.log_tail())
    }

    /// Signals the server to end, waits, and kills it after the timeout.
    pub(crate) fn end(&mut self) -> Result<()> {
        if self.has_ended()? {
            return Ok(());
        }
        send(self.ending, self.pid())?;
        let deadline = Instant::now() + Duration::from_secs(END_SECS_MAX);
        while Instant::now() < deadline {
            if self.has_ended()? {
                return Ok(());
            }
            thread::sleep(LOOK_EVERY);
        }
        self.child.kill().context("could not kill the server")?;
        self.child.wait().context("could not wait for the server")?;
        Ok(())
    }

    /// Returns true if the process has ended.
    pub(crate) fn has_ended(&mut self) -> Result<bool> {
        let status = self.child.try_wait().context("could not check the server")?;
        Ok(status.is_some())
    }

    fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_MAX)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Signalled rather than killed: a killed PostgreSQL leaves its shared memory behind. If that fails, the
        // folder's guard tries once more.
        self.end().ok();
    }
}

/// Starts a server on a port that was free a moment ago, and returns the port.
pub(crate) fn on_a_free_port(start: impl Fn(u16) -> Result<Process>) -> Result<(Process, u16)> {
    for _ in 1..STARTS_MAX {
        let port = free_port()?;
        if let Ok(process) = start(port) {
            return Ok((process, port));
        }
    }
    let port = free_port()?;
    Ok((start(port)?, port))
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("could not bind a port")?;
    Ok(listener.local_addr().context("could not read the port")?.port())
}

/// Sends a signal through the shell, because the standard library can only kill.
fn send(signal: Signal, pid: u32) -> Result<()> {
    let status = Command::new("sh")
        .args(["-c", "kill -s \"$1\" \"$2\"", "sh", signal.name(), &pid.to_string()])
        .status()
        .context("could not run kill")?;
    if !status.success() {
        bail!("could not send {} to process {pid}", signal.name());
    }
    Ok(())
}
