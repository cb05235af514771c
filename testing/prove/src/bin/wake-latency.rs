//! Measures the time until a sleeping agent is called, and until it has its entry.
//!
//! Events arrive evenly for agents that never dialled in, so each agent is called at once. The commit time is
//! PostgreSQL's own commit timestamp, which precedes the flush to disk: the flush counts as the desk's time. A call
//! counts as sent when its target has read it. Two baselines alternate with it: a plain GET, and a line without a desk
//! behind it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_prove::cluster::Cluster;
use nightdesk_prove::desk::{Desk, free_address};
use nightdesk_prove::figures::percentile_ms;
use nightdesk_prove::setup::{Cast, Size};
use nightdesk_prove::sleepers::{self, Seen};
use nightdesk_prove::stage::{DATABASE, seeded};
use nightdesk_prove::worker::{self, Work, Worker};
use nightdesk_prove::{loopback, platform, ui, wakers};

/// Number of tenants that own the agents.
const TENANTS: usize = 20;

/// Connections that post the events.
const CONNECTIONS: u64 = 32;

/// Time limit for the last wake of a turn.
const WOKEN_WITHIN: Duration = Duration::from_secs(20);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// PostgreSQL records commit times and flush durations.
const SETTINGS: [(&str, &str); 2] =
    [("track_commit_timestamp", "on"), ("track_wal_io_timing", "on")];

/// Commit time of each agent's entry, in microseconds since 1970.
const COMMITS: &str = "
    select agent_id, (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000000)::bigint
    from inbox_entries";

/// Number of flushes, and the mean duration of one.
const FLUSHES: &str =
    "select wal_sync, round((wal_sync_time / greatest(wal_sync, 1))::numeric, 2) from pg_stat_wal";

/// Measures the time until sleeping agents are called, and until they have their entries.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Number of sleeping agents.
    #[arg(long, default_value_t = 10_000)]
    agents: usize,

    /// Wakes per second. Desk, store, platform and agents share the machine: at 150 per second two cores are busy, and
    /// the figure measures the queue for them.
    #[arg(long, default_value_t = 40)]
    per_second: u32,

    /// Number of wakes in a turn.
    #[arg(long, default_value_t = 250)]
    wakes: usize,

    /// Number of turns of desk and loopback, after one warm-up turn.
    #[arg(long, default_value_t = 8)]
    turns: usize,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("wake-latency", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let Arguments { agents, wakes, turns, .. } = *arguments;
    let woken = wakes * (turns + 1);
    ensure!(woken <= agents, "of {agents} agents {woken} cannot be woken, once each");
    let mut street = Street::set(arguments)?;
    ui::say(&format!("waking {wakes} of {agents} agents to warm up"));
    street.turn(arguments, 0)?;
    let _: Seen = street.sleepers.ask(&sleepers::Order::Forget)?;
    for turn in 1..=turns {
        let seen = street.turn(arguments, turn)?;
        ui::say(&format!("turn {turn}: {} of {} woken", seen.firsts.len(), wakes * turns));
    }
    street.tell(wakes * turns, arguments.per_second)
}

/// All processes of the run. The cluster ends last.
struct Street {
    platform: Worker,
    sleepers: Worker,
    loopback: Worker,
    desk: Desk,
    cast: Cast,
    cluster: Cluster,
}

impl Street {
    fn set(arguments: &Arguments) -> Result<Self> {
        let cluster = Cluster::start_with(&SETTINGS)?;
        let size = Size::of(TENANTS, arguments.agents);
        let (settings, cast) = seeded(&arguments.desk, &cluster, DATABASE, &size)?;
        let (target, listen) = (free_address()?, free_address()?);
        wakers::enter(&cluster, &cast, |_| target)?;
        let folder = cluster.folder();
        let desk = settings.node("desk-1", folder, &wakers::settings(&[target]))?.start()?;
        let file = folder.join("cast.json");
        cast.save(&file)?;
        let (file, connections) = (file.display().to_string(), CONNECTIONS.to_string());
        let (target, listen) = (target.to_string(), listen.to_string());
        let at = desk.address().to_string();
        let platform = ["platform", "--desk", &at, "--cast", &file, "--connections", &connections];
        let loopback = ["loopback", "--listen", &listen, "--target", &target];
        let sleepers = ["sleepers", "--desk", &at, "--cast", &file];
        let sleepers = [&sleepers[..], &["--target", &target, "--loopback", &listen]].concat();
        Ok(Self {
            platform: Worker::start(folder, &platform)?,
            sleepers: Worker::start(folder, &sleepers)?,
            loopback: Worker::start(folder, &loopback)?,
            desk,
            cast,
            cluster,
        })
    }

    /// Wakes the agents of a turn, and then does the same work without a desk.
    fn turn(&mut self, arguments: &Arguments, turn: usize) -> Result<Seen> {
        let Arguments { per_second, wakes, .. } = *arguments;
        let before: Seen = self.sleepers.ask(&sleepers::Order::Tell)?;
        let (from, count) = (turn * wakes, wakes as u64);
        let order = platform::Order::Paced { from, agents: count, per_second };
        let _: platform::Told = self.platform.ask(&order).map_err(|error| self.logged(error))?;
        self.woken(before.firsts.len() + wakes)?;
        let () = self.loopback.ask(&loopback::Order::Call { calls: count, per_second })?;
        self.sleepers.ask(&sleepers::Order::DialBare { dials: count, per_second })
    }

    fn woken(&mut self, want: usize) -> Result<()> {
        let deadline = Instant::now() + WOKEN_WITHIN;
        loop {
            let seen: Seen = self.sleepers.ask(&sleepers::Order::Tell)?;
            if seen.firsts.len() == want && seen.problem.is_none() {
                return Ok(());
            }
            let (came, problem) = (seen.firsts.len(), seen.problem.unwrap_or_default());
            if Instant::now() > deadline || !problem.is_empty() {
                let error = anyhow::anyhow!("{came} of {want} agents got up: {problem}");
                return Err(self.logged(error));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn tell(&mut self, woken: usize, per_second: u32) -> Result<()> {
        let mut seen: Seen = self.sleepers.ask(&sleepers::Order::Tell)?;
        let mut calls = self.calls(&seen)?;
        let mut firsts: Vec<Duration> = seen.firsts.iter().map(|(_, took)| *took).collect();
        let counts = [&calls, &firsts, &seen.bare_calls, &seen.bare_firsts].map(Vec::len);
        ensure!(counts == [woken; 4], "of {woken} of each there were {counts:?}");
        let flushes = self.cluster.ask(DATABASE, FLUSHES)?;
        let (flushes, flush_ms) = flushes.trim().split_once('|').context("nothing was flushed")?;
        ui::put(&format!("woken: {woken}, each called once and handed its entry"));
        ui::put(&format!("commits: flushes={flushes} flush_mean_ms={flush_ms}"));
        let bare =
            (percentile_ms(&mut seen.bare_calls, 50), percentile_ms(&mut seen.bare_firsts, 50));
        ui::put(&format!("bare: get_p50_ms={:.2} ws_p50_ms={:.2}", bare.0, bare.1));
        let (call, bare_get) =
            (percentile_ms(&mut calls, 99), percentile_ms(&mut seen.bare_calls, 99));
        let (first, bare_ws) =
            (percentile_ms(&mut firsts, 99), percentile_ms(&mut seen.bare_firsts, 99));
        ui::put(&format!(
            "over_bare: call_p99_ms={:.2} first_p99_ms={:.2}",
            call - bare_get,
            first - bare_ws
        ));
        ui::put(&format!(
            "wake-latency: call_p50_ms={:.2} call_p99_ms={call:.2} bare_get_p99_ms={bare_get:.2} \
             first_p50_ms={:.2} first_p99_ms={first:.2} bare_ws_p99_ms={bare_ws:.2} \
             per_s={per_second}",
            percentile_ms(&mut calls, 50),
            percentile_ms(&mut firsts, 50)
        ));
        Ok(())
    }

    /// Returns the time from commit to call for each agent that was called, and checks that each was called once.
    fn calls(&self, seen: &Seen) -> Result<Vec<Duration>> {
        let text = self.cluster.ask(DATABASE, COMMITS)?;
        let commit = |line: &str| {
            let (agent, at) = line.split_once('|')?;
            Some((agent.to_owned(), at.parse().ok()?))
        };
        let commits: Option<HashMap<String, u64>> = text.lines().map(commit).collect();
        let commits = commits.context("could not read when PostgreSQL committed")?;
        let took = |(member, called): &(usize, u64)| {
            let agent = self.cast.members[*member].agent.to_string();
            let at = commits.get(&agent).with_context(|| format!("nothing waited for {agent}"))?;
            let took = called.checked_sub(*at);
            took.map(Duration::from_micros).context("an agent was called before its commit")
        };
        seen.calls.iter().map(took).collect()
    }

    fn logged(&self, error: anyhow::Error) -> anyhow::Error {
        error.context(format!("the desk's log ends:\n{}", self.desk.log_tail()))
    }
}
