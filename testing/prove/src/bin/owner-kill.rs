//! Kills the node that listens on Discord under load, and checks that the other node resumes its session.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_judge::Invariant;
use nightdesk_prove::chaos::mutants;
use nightdesk_prove::owner_kill::{Options, Outcome, run};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};
use nightdesk_types::limits::TAKEN_OVER_WITHIN;

/// Maximum number of lines shown of a verdict.
const SHOWN_MAX: usize = 12;

/// Kills the node that listens on Discord again and again.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Seed from which the whole run follows.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Number of kills.
    #[arg(long, default_value_t = 20)]
    kills: usize,

    /// Messages per second that people write. A fifth of them reach no agent.
    #[arg(long, default_value_t = 200)]
    rate: u64,

    /// Number of the bug to plant. It needs the mutated build.
    #[arg(long)]
    mutant: Option<String>,

    /// Keeps the histories of a clean run, too.
    #[arg(long)]
    keep: bool,

    /// Folder in which the folder of the run is created.
    #[arg(long, default_value = "target/chaos")]
    folder: PathBuf,

    /// Path of the desk's binary, built with the features `scripted` and `failpoints`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("owner-kill", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let options = Options {
        seed: arguments.seed,
        kills: arguments.kills,
        rate: arguments.rate,
        mutation: mutants::mutation(arguments.mutant.as_deref())?,
        desk: arguments.desk.clone(),
        folder: arguments.folder.clone(),
    };
    let outcome = run(&options)?;
    tell(&outcome);
    judged(&outcome)?;
    if !arguments.keep {
        std::fs::remove_dir_all(&outcome.folder)?;
    }
    Ok(())
}

fn judged(outcome: &Outcome) -> Result<()> {
    let (begun, needed) = outcome.seen.identifies;
    ensure!(
        outcome.verdict.counts.is_empty(),
        "promises were broken; the histories are in {}",
        outcome.folder.display()
    );
    ensure!(p99(&outcome.seen.takeovers) <= TAKEN_OVER_WITHIN, "nobody listened for too long");
    ensure!(begun <= needed, "{begun} sessions were begun, and {needed} had to be");
    Ok(())
}

fn tell(outcome: &Outcome) {
    let shown = outcome.verdict.violations.iter().take(SHOWN_MAX);
    shown.for_each(|violation| ui::put(&violation.to_string()));
    ui::put(&outcome.verdict.summary());
    let (begun, needed) = outcome.seen.identifies;
    ui::put(&format!(
        "owner-kill: events={} identifies_needed={needed} handovers={} handover_max_s={:.2}",
        outcome.seen.events,
        outcome.seen.handovers.len(),
        p99(&outcome.seen.handovers).as_secs_f64(),
    ));
    let count = |invariant| outcome.verdict.count(invariant);
    ui::put(&format!(
        "owner-kill: kills={} takeover_p99_s={:.2} identifies={begun} lost={} doubled={}",
        outcome.seen.takeovers.len(),
        p99(&outcome.seen.takeovers).as_secs_f64(),
        count(Invariant::NoLoss),
        count(Invariant::NoDuplicate),
    ));
}

/// Returns the maximum, which is the p99 of so few values.
fn p99(spans: &[Duration]) -> Duration {
    spans.iter().copied().max().unwrap_or_default()
}
