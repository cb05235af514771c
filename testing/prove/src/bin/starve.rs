//! Measures a genuine dial and genuine events while forged dials and unknown webhooks come from the same address.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_prove::figures::{percentile_ms, ratio};
use nightdesk_prove::setup::Size;
use nightdesk_prove::stage::Stage;
use nightdesk_prove::starve::{Measured, Plan, measure};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Numbers of tenants, and of agents in total.
const SIZE: (usize, usize) = (4, 40);

/// Connections of the platform, which posts nothing here.
const CONNECTIONS: u64 = 1;

/// Longest time of a genuine dial. A stock client gives up after ten seconds.
const DIAL_MAX_MS: f64 = 10_000.0;

/// Maximum slowdown of an accept.
const ACCEPT_RATIO_MAX: f64 = 2.0;

/// Measures genuine clients amid a flood of unproven requests.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Number of turns of a quiet and a flooded period.
    #[arg(long, default_value_t = 4)]
    turns: u32,

    /// Seconds of each period.
    #[arg(long, default_value_t = 15)]
    seconds: u32,

    /// Forged dials in the whole run, and as many requests to paths of no bot.
    #[arg(long, default_value_t = 20_000)]
    forged: u32,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("starve", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let (tenants, agents) = SIZE;
    let mut stage = Stage::set(&arguments.desk, &Size::of(tenants, agents), CONNECTIONS)?;
    stage.dial()?;
    let Arguments { turns, seconds, forged, .. } = *arguments;
    let plan = Plan { turns, seconds, forged };
    report(measure(&stage.cast, stage.desk.address(), plan)?, plan)
}

fn report(mut measured: Measured, plan: Plan) -> Result<()> {
    let Measured { forged, unknown, put_off, .. } = measured;
    let quiet = percentile_ms(&mut measured.quiet, 99);
    let flooded = percentile_ms(&mut measured.flooded, 99);
    let (events, dials) = (measured.flooded.len(), measured.dials.len());
    ui::put(&format!(
        "flood: forged={forged} unknown={unknown} put_off={put_off} events={events} dials={dials} \
         accept_p99_quiet_ms={quiet:.1} accept_p99_flooded_ms={flooded:.1}"
    ));
    let (slowest, slowdown) = (percentile_ms(&mut measured.dials, 100), ratio(flooded, quiet));
    ui::put(&format!("starve: dial_ms={slowest:.0} accept_p99_ratio={slowdown:.2}"));
    let refused = forged + unknown + put_off;
    ensure!(
        refused >= 2 * (plan.forged - plan.forged % plan.turns),
        "{refused} requests are no flood"
    );
    ensure!(slowest < DIAL_MAX_MS, "a genuine dial took {slowest:.0} ms");
    ensure!(slowdown <= ACCEPT_RATIO_MAX, "accepts took {slowdown:.2} times as long");
    Ok(())
}
