//! Measures the cost of idle lines to a desk.
//!
//! Every line is authenticated, has sent its hello, and has received and acked an entry. Then only pings pass for a
//! while. At the end every line must still be open.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_prove::figures::{core_percent, growth_each};
use nightdesk_prove::platform::Order;
use nightdesk_prove::setup::Size;
use nightdesk_prove::stage::Stage;
use nightdesk_prove::worker::{self, Work};
use nightdesk_prove::{procfs, ui};

/// Number of tenants that own the agents.
const TENANTS: usize = 20;

/// Connections that post the entries.
const CONNECTIONS: u64 = 64;

/// Number of lines that must receive one more entry at the end.
const SAMPLED: usize = 100;

/// Time in which the last acks are written before the lines count as idle.
const SETTLED_AFTER: Duration = Duration::from_secs(5);

/// Measures the cost of idle lines.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Number of lines.
    #[arg(long, default_value_t = 10_000)]
    lines: usize,

    /// Seconds for which the lines are idle.
    #[arg(long, default_value_t = 60)]
    seconds: u64,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("idle-lines", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let lines = arguments.lines;
    ensure!(lines >= SAMPLED, "give at least {SAMPLED} lines");
    let size = Size::of(TENANTS, lines);
    let mut stage = Stage::set(&arguments.desk, &size, CONNECTIONS)?;
    let desk = stage.desk.pid();

    let before_kib = procfs::rss_kib(desk)?;
    stage.dial()?;
    ui::say("handing one entry over on each line");
    let told = stage.post(&Order::Each(1))?;
    stage.arrived(told)?;
    thread::sleep(SETTLED_AFTER);

    ui::say(&format!("leaving the lines idle for {} s", arguments.seconds));
    let idle = idle(&mut stage, Duration::from_secs(arguments.seconds))?;
    let after_kib = procfs::rss_kib(desk)?;

    let told = stage.post(&Order::Each(lines / SAMPLED))?;
    stage.arrived(told)?;
    stage.check_history()?;

    ui::put(&format!("rss_kib: before={before_kib} idle={after_kib}"));
    ui::put(&format!("pings_answered: {}", idle.pings));
    ui::put(&format!(
        "idle-lines: lines={lines} kib_per_line={:.1} desk_cpu_pct={:.1} pg_cpu_pct={:.1}",
        growth_each(before_kib, after_kib, lines as u64),
        core_percent(idle.desk_cpu, idle.elapsed),
        core_percent(idle.pg_cpu, idle.elapsed)
    ));
    Ok(())
}

/// Measurements of the idle period.
struct Idle {
    elapsed: Duration,
    desk_cpu: Duration,
    pg_cpu: Duration,
    pings: u64,
}

fn idle(stage: &mut Stage, span: Duration) -> Result<Idle> {
    let (desk, pg) = (stage.desk.pid(), stage.cluster.pid());
    let pings = stage.standing()?.pings;
    let (desk_before, pg_before) = (procfs::cpu(desk)?, procfs::cpu_with_children(pg)?);
    let began = Instant::now();
    thread::sleep(span);
    Ok(Idle {
        elapsed: began.elapsed(),
        desk_cpu: procfs::cpu(desk)?.saturating_sub(desk_before),
        pg_cpu: procfs::cpu_with_children(pg)?.saturating_sub(pg_before),
        pings: stage.standing()?.pings - pings,
    })
}
