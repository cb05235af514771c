//! Runs three nodes for an hour under a random fault every twenty seconds, and watches their memory.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_judge::Invariant;
use nightdesk_prove::soak::{SoakOptions, run};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Violations that are shown of a verdict.
const SHOWN_MAX: usize = 12;

/// Runs a world for a long time, and judges it.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Seed from which the load and the faults follow.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Minutes for which events are sent.
    #[arg(long, default_value_t = 60)]
    minutes: u64,

    /// Events per second that the platform sends, if the desk accepts them.
    #[arg(long, default_value_t = 60)]
    rate: u64,

    /// Messages per second that people write on Discord, and as many on Telegram.
    #[arg(long, default_value_t = 10)]
    street: u64,

    /// Folder in which the folder of the run is created.
    #[arg(long, default_value = "target/chaos")]
    folder: PathBuf,

    /// Path of the desk's binary, built with the features `scripted` and `failpoints`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("soak", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    ui::say(&format!("seed {}", arguments.seed));
    let outcome = run(&SoakOptions {
        seed: arguments.seed,
        lasts: Duration::from_mins(arguments.minutes),
        rate_per_s: arguments.rate,
        street_per_s: arguments.street,
        desk: arguments.desk.clone(),
        folder: arguments.folder.clone(),
    })?;
    let verdict = &outcome.verdict;
    let shown = verdict.violations.iter().take(SHOWN_MAX);
    shown.for_each(|violation| ui::put(&violation.to_string()));
    ui::put(&verdict.summary());
    ui::put(&format!(
        "soak: minutes={} faults={} lost={} doubled={} crossed={} rss_ratio={:.2}",
        arguments.minutes,
        outcome.faults,
        verdict.count(Invariant::NoLoss),
        verdict.count(Invariant::NoDuplicate),
        verdict.count(Invariant::NoMisdelivery),
        outcome.rss_ratio
    ));
    let folder = outcome.folder.display();
    ensure!(verdict.counts.is_empty(), "promises were broken; the histories are in {folder}");
    ensure!(
        !outcome.has_grown(),
        "the memory of a node grew by more than a fifth; the logs are in {folder}"
    );
    if !outcome.had_settled {
        ui::say("the run was too short to judge the memory of its nodes");
    }
    fs::remove_dir_all(&outcome.folder).context("could not remove the folder of the run")
}
