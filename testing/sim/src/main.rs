//! `sim` plays seeds, and reports those that break a promise.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;

mod mutant;
mod report;
mod seeds;
mod ui;

use mutant::Mutant;

/// Plays seeds of a simulated desk, and reports those that break a promise.
#[derive(Parser)]
struct Args {
    /// The seed to play. Without it, many are played.
    seed: Option<u64>,
    /// Number of seeds to play.
    #[arg(long, default_value_t = 500)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Number of seeds that are played in parallel.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Folder for the histories of a single seed, or of seeds that fail.
    #[arg(long, default_value = "target/sim-histories")]
    histories: PathBuf,
    /// Number of a mutant of this build. Seeds are played until one finds it.
    #[arg(long, requires = "breaks", conflicts_with = "seed")]
    mutant: Option<String>,
    /// Number of the promise that the mutant breaks.
    #[arg(long, requires = "mutant")]
    breaks: Option<String>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            ui::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Returns true if all results are as expected.
fn run(args: &Args) -> Result<bool> {
    ensure!(cfg!(tokio_unstable), "build it with `--cfg tokio_unstable`, or seeds do not replay");
    if let Some(seed) = args.seed {
        return one_seed(seed, &args.histories);
    }
    Ok(match (&args.mutant, &args.breaks) {
        (Some(number), Some(breaks)) => {
            Mutant { number, breaks }.is_found(args.from..args.from + args.seeds, args.jobs)
        }
        _ => many_seeds(args),
    })
}

fn one_seed(seed: u64, histories: &Path) -> Result<bool> {
    let folder = emptied(histories, seed)?;
    let verdict = seeds::play(seed, &folder);
    report::tell(seed, &verdict);
    ui::say(&format!("histories: {}", folder.display()));
    Ok(report::is_good(&verdict))
}

fn many_seeds(args: &Args) -> bool {
    let failed = seeds::play_until(args.from..args.from + args.seeds, args.jobs, None, |_| false);
    for (seed, verdict) in &failed {
        report::tell(*seed, verdict);
    }
    ui::say(&format!("sim: seeds={} failed={}", args.seeds, failed.len()));
    failed.is_empty()
}

fn emptied(histories: &Path, seed: u64) -> Result<PathBuf> {
    let folder = seeds::histories(histories, seed);
    if folder.exists() {
        fs::remove_dir_all(&folder).context("could not remove the histories of last time")?;
    }
    fs::create_dir_all(&folder).context("could not make a folder for histories")?;
    Ok(folder)
}
