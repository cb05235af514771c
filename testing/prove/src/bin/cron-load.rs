//! Measures ten thousand jobs that are due in the same second, of a million armed jobs.
//!
//! Real nodes claim the jobs and call their agents, which listen on many addresses of this machine. The operator's
//! configuration permits calls to these addresses. Every fire must arrive once, and no fire before its instant.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_prove::cluster::Cluster;
use nightdesk_prove::cron_load::target::{Heard, Order};
use nightdesk_prove::cron_load::{claims, jobs};
use nightdesk_prove::desk::{Desk, free_address};
use nightdesk_prove::figures::percentile_ms;
use nightdesk_prove::setup::Size;
use nightdesk_prove::stage::{DATABASE, seeded};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work, Worker};

/// Numbers of tenants and agents that own the jobs.
const TENANTS: usize = 50;
const AGENTS: usize = 500;

/// Time between the arming of the last job and the due instant.
const AHEAD_S: u32 = 10;

/// Time limit for the last fire.
const FIRED_WITHIN: Duration = Duration::from_mins(2);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Rate limit for calls to each host.
const CALLS_PER_SECOND: u32 = 10_000;

/// Measures how late the desk fires jobs that are due in the same second.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Number of armed jobs.
    #[arg(long, default_value_t = 1_000_000)]
    armed: usize,

    /// Number of jobs that are due in the same second.
    #[arg(long, default_value_t = 10_000)]
    due: usize,

    /// Number of nodes that fire them.
    #[arg(long, default_value_t = 2)]
    nodes: usize,

    /// Number of jobs that each side claims in a turn, for the comparison with the bare statement.
    #[arg(long, default_value_t = 10_240)]
    claimed: usize,

    /// Number of turns in which both sides claim, after one warm-up turn.
    #[arg(long, default_value_t = 5)]
    turns: usize,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("cron-load", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let Arguments { armed, due, nodes, claimed, turns, .. } = *arguments;
    let cluster = Cluster::start()?;
    let (settings, _) = seeded(&arguments.desk, &cluster, DATABASE, &Size::of(TENANTS, AGENTS))?;
    let port = free_address()?.port();
    ui::say(&format!("arming {armed} jobs"));
    jobs::arm(&cluster, armed.div_ceil(AGENTS), port)?;
    let mut target = Worker::start(cluster.folder(), &["fires", "--port", &port.to_string()])?;
    let node = |number| {
        settings.node(&format!("node-{number}"), cluster.folder(), &allowed(port))?.start()
    };
    let desks: Vec<Desk> = (1..=nodes).map(node).collect::<Result<_>>()?;
    let at = jobs::due(&cluster, due, AHEAD_S)?;
    ui::say(&format!("{due} are due in {AHEAD_S} s"));
    let log = || desks.iter().map(Desk::log_tail).collect::<Vec<_>>().join("\n");
    fired(&cluster, due).map_err(|error| error.context(log()))?;
    let heard: Heard = target.ask(&Order::Tell)?;
    drop(desks);
    let told = told(&cluster, &heard, at, due)?;
    let rates = claims::measure(&cluster, claimed, turns)?;
    ui::put(&format!(
        "cron-load: armed={armed} due={due} {told} claims_ratio={:.2}",
        rates.ratio()
    ));
    Ok(())
}

/// Returns the configuration that lets a node call every host of the target.
fn allowed(port: u16) -> String {
    let rate = |host: u8| {
        let host = Ipv4Addr::new(127, 0, 1 + host / 100, 1 + host % 100);
        format!("[outside.rates.\"{host}\"]\nper_second = {CALLS_PER_SECOND}\nat_once = 1000\n")
    };
    let rates: String = (0..jobs::HOSTS).map(rate).collect();
    format!("[outside]\nranges = [\"127.0.0.0/8\"]\nhttp = true\nports = [{port}]\n{rates}")
}

/// Waits until all due fires are over.
fn fired(cluster: &Cluster, due: usize) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(AHEAD_S.into()) + FIRED_WITHIN;
    loop {
        let over = jobs::fires(cluster, "in ('fired', 'late', 'skipped', 'missed')")?;
        if over >= due {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "of {due} fires {over} are over");
        thread::sleep(LOOK_EVERY);
    }
}

/// Returns the figures, from the target's records and the rows.
fn told(cluster: &Cluster, heard: &Heard, at: u64, due: usize) -> Result<String> {
    let mut late: Vec<Duration> = Vec::with_capacity(heard.fires.len());
    let (mut early, mut times) = (0, HashMap::<&str, usize>::new());
    for fire in &heard.fires {
        early += usize::from(fire.at < at);
        late.push(Duration::from_micros(fire.at.saturating_sub(at)));
        *times.entry(fire.fire.as_str()).or_default() += 1;
    }
    let doubled = times.values().filter(|count| **count > 1).count();
    let taken = jobs::fires(cluster, "in ('fired', 'late')")?;
    let missed = due.saturating_sub(taken.min(times.len()));
    ensure!(
        early == 0 && missed == 0 && doubled == 0,
        "early={early} missed={missed} doubled={doubled}"
    );
    let (p50, p99) = (percentile_ms(&mut late, 50), percentile_ms(&mut late, 99));
    Ok(format!(
        "late_p50_ms={p50:.0} late_p99_ms={p99:.0} early={early} missed={missed} doubled={doubled}"
    ))
}
