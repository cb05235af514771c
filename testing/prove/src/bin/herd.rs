//! Measures how ten thousand lines reconnect after the desk is killed and starts again.
//!
//! Every gateway loses its line at the same moment and dials as the stock client does: after 1, 2, 4, 8, 16 and 30
//! seconds, all together. Events arrive at the usual rate meanwhile, and every acknowledged event must be delivered. A
//! small query beside it measures the load of the database.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use clap::Parser;
use nightdesk_prove::figures::{per_second, percentile_ms};
use nightdesk_prove::gateway::{self, Standing};
use nightdesk_prove::history::lost_and_again;
use nightdesk_prove::load_probe::{LoadProbe, Seen};
use nightdesk_prove::platform::{Order, Told, Whom};
use nightdesk_prove::setup::Size;
use nightdesk_prove::stage::{DATABASE, Stage};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Number of tenants that own the agents.
const TENANTS: usize = 20;

/// Connections that post the events.
const CONNECTIONS: u64 = 64;

/// Duration of normal operation before the kill, and again at the end.
const CALM: Duration = Duration::from_secs(10);

/// Time limit for all lines to reconnect.
const BACK_WITHIN: Duration = Duration::from_mins(5);

/// Time limit for the last entries once all lines are open.
const ARRIVED_WITHIN: Duration = Duration::from_secs(30);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Interval of progress reports.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// Measures the load on a desk when all its lines reconnect at once.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Number of lines.
    #[arg(long, default_value_t = 10_000)]
    lines: usize,

    /// Events posted per second during the whole run.
    #[arg(long, default_value_t = 200)]
    per_second: u32,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("herd", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let lines = arguments.lines;
    let mut stage = Stage::set(&arguments.desk, &Size::of(TENANTS, lines), CONNECTIONS)?;
    stage.dial()?;
    let _: Standing = stage.gateways.ask(&gateway::Order::ComeBack)?;
    ui::say(&format!("posting {} events a second", arguments.per_second));
    stage.post(&Order::Begin { whom: Whom::Everybody, per_second: arguments.per_second })?;

    let calm = probed(&mut stage, |_| {
        thread::sleep(CALM);
        Ok(())
    })?;
    ui::say("killing the desk and starting it again");
    let began = Instant::now();
    let herd = probed(&mut stage, |stage| come_back(stage, lines))?;
    let back = began.elapsed();
    thread::sleep(CALM);

    let told: Told = stage.platform.ask(&Order::Stop)?;
    let (lost, again) = settled(&mut stage)?;
    let standing = stage.standing()?;
    tell(&told, &standing, again);
    tell_database(calm, herd);
    ui::put(&format!("admitted: per_second={:.0}", per_second(lines as u64, back)));
    ui::put(&format!(
        "herd: lines={lines} back_seconds={:.1} wrong_4401={} lost={lost}",
        back.as_secs_f64(),
        standing.revoked
    ));
    ensure!(standing.revoked == 0 && lost == 0, "not everybody came back with everything");
    Ok(())
}

/// Measures the load of the database during a step.
fn probed(stage: &mut Stage, done: impl FnOnce(&mut Stage) -> Result<()>) -> Result<Seen> {
    let probe = LoadProbe::start(&stage.cluster, DATABASE);
    let done = done(stage);
    let seen = probe.end();
    done.and(seen)
}

/// Waits until every line is open again.
fn come_back(stage: &mut Stage, lines: usize) -> Result<()> {
    let before = stage.standing()?;
    stage.kill_and_start_again()?;
    let (began, mut told_at) = (Instant::now(), Instant::now());
    loop {
        let standing = stage.standing()?;
        let back = standing.again - before.again;
        if back >= lines as u64 && standing.open == lines as u64 {
            return Ok(());
        }
        if began.elapsed() > BACK_WITHIN || standing.revoked > 0 {
            let Standing { open, revoked, .. } = standing;
            bail!("of {lines} lines {open} are open, {revoked} were told 4401");
        }
        if told_at.elapsed() > TOLD_EVERY {
            told_at = Instant::now();
            ui::say(&format!("  {back} are back, {} dials were put off", standing.put_off));
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Waits until every acknowledged event is acked. Returns the numbers of lost events and of repeated acks.
fn settled(stage: &mut Stage) -> Result<(usize, usize)> {
    let deadline = Instant::now() + ARRIVED_WITHIN;
    loop {
        let (told, acked) = stage.history()?;
        let (lost, again) = lost_and_again(&told, &acked);
        if lost == 0 || Instant::now() > deadline {
            return Ok((lost, again));
        }
        thread::sleep(LOOK_EVERY);
    }
}

fn tell(told: &Told, standing: &Standing, again: usize) {
    let Told { told, again: posted_again } = told;
    ui::put(&format!(
        "events: told_ok={told} posted_again={posted_again} handed_over_again={again}"
    ));
    let Standing { again, put_off, .. } = standing;
    ui::put(&format!("dials: back={again} put_off={put_off}"));
}

fn tell_database(mut calm: Seen, mut herd: Seen) {
    ui::put(&format!(
        "database: probe_calm_p99_ms={:.1} probe_herd_p99_ms={:.1} connections_max={}",
        percentile_ms(&mut calm.took, 99),
        percentile_ms(&mut herd.took, 99),
        herd.connections_max.max(calm.connections_max)
    ));
}
