//! Node: one desk of several over the same database, up or down.

use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::desk::{Desk, Settings};
use crate::procfs::signal;

/// How often we look whether it ended.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A node of the run.
#[derive(Debug)]
pub struct Node {
    name: String,
    settings: Settings,
    /// What is in its environment at every start: the bug that is planted in it.
    environment: Vec<(&'static str, String)>,
    running: Option<Desk>,
}

impl Node {
    /// Writes down what the node of this number is told. It does not run yet.
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

    /// What it is called, in histories too.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it listens when it runs.
    pub const fn address(&self) -> SocketAddr {
        self.settings.address()
    }

    /// Its process, if it runs.
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(Desk::pid)
    }

    /// Starts it; returns when it listens.
    pub fn start(&mut self) -> Result<()> {
        self.start_with(&[])
    }

    /// Starts it with more in its environment; returns when it listens.
    pub fn start_with(&mut self, more: &[(&'static str, String)]) -> Result<()> {
        let environment = [&self.environment, more].concat();
        self.running = Some(self.settings.start_with(&environment)?);
        Ok(())
    }

    /// What is wrong with the audit log of its database, if anything.
    pub fn audit_fault(&self) -> Result<Option<String>> {
        let verified = self.settings.command(&[], &["audit", "verify"])?;
        let told = [verified.stdout, verified.stderr].concat();
        let told = String::from_utf8_lossy(&told).trim().to_owned();
        Ok((!verified.status.success()).then_some(told))
    }

    /// Kills it, if it runs.
    pub fn kill(&mut self) -> Result<()> {
        self.running.take().map_or(Ok(()), |mut desk| desk.kill())
    }

    /// Stops it in its tracks, or lets it go on.
    pub fn signal(&self, name: &str) -> Result<()> {
        let running = self.running.as_ref().context("the node does not run")?;
        signal(name, &[running.pid()])
    }

    /// Waits until it ends by itself.
    pub fn ends_within(&mut self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        while !self.has_ended()? {
            let secs = patience.as_secs();
            ensure!(Instant::now() < deadline, "{} did not end itself in {secs} s", self.name);
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Whether it ended by itself.
    pub fn has_ended(&mut self) -> Result<bool> {
        self.running.as_mut().context("the node does not run")?.has_ended()
    }
}
