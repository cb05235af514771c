//! Controls one node of several on the same database.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::desk::{Desk, Settings, Surroundings};
use crate::procfs::signal;

/// Polling interval for its end.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Part of the error of a command whose request got no answer.
const NO_ANSWER: &str = "no desk answers at";

/// A node of the run.
#[derive(Debug)]
pub struct Node {
    name: String,
    settings: Settings,
    /// Environment at every start, which selects a mutant.
    environment: Vec<(&'static str, String)>,
    running: Option<Desk>,
}

impl Node {
    /// Writes the configuration of a node. It does not run yet.
    pub fn write(
        number: usize,
        settings: &Settings,
        (logs, more): (&Path, &str),
        environment: &[(&'static str, String)],
    ) -> Result<Self> {
        let name = format!("node-{number}");
        let settings = settings.node(&name, logs, more)?;
        Ok(Self { name, settings, environment: environment.to_vec(), running: None })
    }

    /// Returns its name, which histories use too.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.settings.address()
    }

    /// Returns its process id, if it runs.
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(Desk::pid)
    }

    /// Starts the node. Returns when it listens.
    pub fn start(&mut self) -> Result<()> {
        self.start_with(&[])
    }

    /// Starts the node with additional environment variables. Returns when it listens.
    pub fn start_with(&mut self, more: &[(&'static str, String)]) -> Result<()> {
        self.start_in(Surroundings { environment: more, ..Surroundings::default() })
    }

    /// Starts the node in these surroundings. Returns when it listens.
    pub fn start_in(&mut self, surroundings: Surroundings<'_>) -> Result<()> {
        let mut environment: Vec<(&str, String)> = self.environment.clone();
        environment.extend_from_slice(surroundings.environment);
        let surroundings = Surroundings { environment: &environment, ..surroundings };
        self.running = Some(self.settings.start_in(surroundings)?);
        Ok(())
    }

    /// Returns the whole log of the node, of all its lives.
    pub fn log(&self) -> Result<String> {
        self.settings.log()
    }

    /// Logs an administrator in at the node, for the commands at all nodes.
    pub fn log_in(&self) -> Result<()> {
        self.settings.log_in().map(drop)
    }

    /// Runs a command of the desk's binary to its end. If it is a request, this node gets it.
    pub fn command(&self, arguments: &[&str]) -> Result<Output> {
        self.settings.command(&[], arguments)
    }

    /// Kills the node, if it runs.
    pub fn kill(&mut self) -> Result<()> {
        self.running.take().map_or(Ok(()), |mut desk| desk.kill())
    }

    /// Sends the node a signal, for example to stop or continue it.
    pub fn signal(&self, name: &str) -> Result<()> {
        let running = self.running.as_ref().context("the node does not run")?;
        signal(name, &[running.pid()])
    }

    /// Waits until the node ends by itself.
    pub fn ends_within(&mut self, patience: Duration) -> Result<()> {
        self.wait_for(Self::has_ended, patience)
    }

    /// Waits until the node aborts at its crash point. Fails if it ends in another way.
    pub fn aborts_within(&mut self, patience: Duration) -> Result<()> {
        self.wait_for(Self::has_aborted, patience)
    }

    fn wait_for(&mut self, end: fn(&mut Self) -> Result<bool>, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        while !end(self)? {
            let secs = patience.as_secs();
            ensure!(Instant::now() < deadline, "{} did not end itself in {secs} s", self.name);
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Returns true if the node ended by itself.
    pub fn has_ended(&mut self) -> Result<bool> {
        self.running.as_mut().context("the node does not run")?.has_ended()
    }

    /// Returns true if the node aborted at its crash point. Fails if it ended in another way.
    pub fn has_aborted(&mut self) -> Result<bool> {
        self.running.as_mut().context("the node does not run")?.has_aborted()
    }
}

/// Runs a command to its end. If it is a request, the first of these nodes that answers gets it.
pub fn run_command(nodes: &[Node], arguments: &[&str]) -> Result<Output> {
    let (last, others) = nodes.split_last().context("the desk has no node")?;
    for node in others {
        let output = node.command(arguments)?;
        if !String::from_utf8_lossy(&output.stderr).contains(NO_ANSWER) {
            return Ok(output);
        }
    }
    last.command(arguments)
}

/// Runs such a command, which must succeed. Returns its output.
pub fn complete_command(nodes: &[Node], arguments: &[&str]) -> Result<String> {
    let ran = run_command(nodes, arguments)?;
    let told = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    ensure!(ran.status.success(), "`nightdesk {}` failed:\n{told}", arguments.join(" "));
    Ok(told)
}

/// Returns the fault in the audit log of the desk with these nodes, if there is one.
pub fn audit_fault(nodes: &[Node]) -> Result<Option<String>> {
    let verified = run_command(nodes, &["audit", "verify"])?;
    let told = [verified.stdout, verified.stderr].concat();
    let told = String::from_utf8_lossy(&told).trim().to_owned();
    Ok((!verified.status.success()).then_some(told))
}
