//! Runs a part of a proof in a separate process, so that its cost is separate.
//!
//! It is the same binary with a hidden command. Commands and answers are lines of JSON. The process ends when its input
//! is closed.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::Subcommand;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::chaos::plan::PlanFile;
use crate::chaos::{
    gateways as chaos_gateways, jobs as chaos_jobs, letters as chaos_letters,
    platform as chaos_platform, street as chaos_street, wires as chaos_wires,
};
use crate::cron_load::target;
use crate::{desk, gateway, loopback, platform, sleepers, ui};

/// Kinds of workers.
#[derive(Debug, Subcommand)]
pub enum Work {
    /// Gateways of all agents.
    #[command(hide = true)]
    Gateways(gateway::Arguments),
    /// The platform.
    #[command(hide = true)]
    Platform(platform::Arguments),
    /// Sleeping agents.
    #[command(hide = true)]
    Sleepers(sleepers::Arguments),
    /// A call and a line without a desk behind them.
    #[command(hide = true)]
    Loopback(loopback::Arguments),
    /// The target of due jobs.
    #[command(hide = true)]
    Fires(target::Arguments),
    /// Gateways of some agents, each with its own manner.
    #[command(hide = true)]
    ChaosGateways(chaos_gateways::Arguments),
    /// A platform that records everything.
    #[command(hide = true)]
    ChaosPlatform(PlanFile),
    /// People on Discord and Telegram.
    #[command(hide = true)]
    ChaosStreet(chaos_street::Arguments),
    /// Agents that have jobs.
    #[command(hide = true)]
    ChaosJobs(PlanFile),
    /// Agents that write letters.
    #[command(hide = true)]
    ChaosLetters(PlanFile),
    /// Wires around a node that can be cut.
    #[command(hide = true)]
    ChaosWires(chaos_wires::Arguments),
}

impl Work {
    /// Runs the worker until its input is closed.
    pub fn run(&self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("could not start the runtime")?;
        match self {
            Self::Gateways(arguments) => runtime.block_on(gateway::run(arguments)),
            Self::Platform(arguments) => runtime.block_on(platform::run(arguments)),
            Self::Sleepers(arguments) => runtime.block_on(sleepers::run(arguments)),
            Self::Loopback(arguments) => runtime.block_on(loopback::run(arguments)),
            Self::Fires(arguments) => runtime.block_on(target::run(arguments)),
            Self::ChaosGateways(arguments) => runtime.block_on(chaos_gateways::run(arguments)),
            Self::ChaosPlatform(arguments) => runtime.block_on(chaos_platform::run(arguments)),
            Self::ChaosStreet(arguments) => runtime.block_on(chaos_street::run(arguments)),
            Self::ChaosJobs(arguments) => runtime.block_on(chaos_jobs::run(arguments)),
            Self::ChaosLetters(arguments) => runtime.block_on(chaos_letters::run(arguments)),
            Self::ChaosWires(arguments) => runtime.block_on(chaos_wires::run(arguments)),
        }
    }
}

/// Runs a proof, or the worker that this process is, and prints its end.
pub fn run(name: &str, work: Option<&Work>, prove: impl FnOnce() -> Result<()>) -> ExitCode {
    ui::ended(name, work.map_or_else(prove, Work::run))
}

/// The handle of a worker. Dropping it ends the process.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts this binary again with these arguments, in this folder.
    pub fn start(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<Self> {
        let program = std::env::current_exe().context("could not find our own binary")?;
        let mut child = desk::limited(&program)
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("could not run a worker")?;
        let orders = child.stdin.take();
        let answers = child.stdout.take().context("a worker has no voice")?;
        Ok(Self { child, orders, answers: BufReader::new(answers) })
    }

    /// Returns its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a command and waits for the answer.
    pub fn ask<A: DeserializeOwned>(&mut self, order: &impl Serialize) -> Result<A> {
        let mut line = serde_json::to_string(order).context("could not write an order")?;
        line.push('\n');
        let orders = self.orders.as_mut().context("a worker has no ear")?;
        orders.write_all(line.as_bytes()).context("a worker takes no order")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).context("a worker gives no answer")?;
        let answer: Result<A, String> =
            serde_json::from_str(&answer).context("a worker ended without an answer")?;
        answer.map_err(|problem| anyhow!(problem))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.orders.take());
        self.child.wait().ok();
    }
}

/// Waits for tasks that are to stop, and aborts the rest after the time limit.
pub(crate) async fn end(tasks: &mut JoinSet<()>, within: Duration) {
    let all = async { while tasks.join_next().await.is_some() {} };
    // In both cases no task is left after this.
    drop(timeout(within, all).await);
    tasks.shutdown().await;
}

/// Answers commands until the input is closed.
pub async fn answer<O, A>(mut obey: impl AsyncFnMut(O) -> Result<A>) -> Result<()>
where
    O: DeserializeOwned + Send + 'static,
    A: Serialize,
{
    let (tell, mut told) = mpsc::channel(1);
    // Not joined: it ends with the process.
    drop(std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if tell.blocking_send(serde_json::from_str::<O>(&line)).is_err() {
                return;
            }
        }
    }));
    while let Some(order) = told.recv().await {
        let order = order.context("could not read an order")?;
        let answer = obey(order).await.map_err(|error| format!("{error:#}"));
        ui::put(&serde_json::to_string(&answer).context("could not write an answer")?);
    }
    Ok(())
}
