//! Kills PostgreSQL under load and promotes its standby by the commands of `docs/failover.md`, again and again.
//!
//! A synchronous standby has every commit: nothing is lost and nothing is doubled. A standby that lags lacks the last
//! seconds: the nodes store the events of that time again, so none is lost, but agents may get them twice.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_judge::Invariant;
use nightdesk_prove::chaos::faults::{ASYNC_FAILOVER, Fault, SYNC_FAILOVER, Wanted};
use nightdesk_prove::chaos::mutants;
use nightdesk_prove::chaos::plan::Scale;
use nightdesk_prove::chaos::run::{Options, Outcome, run};
use nightdesk_prove::lost_commits::{StoredAgain, broken_always};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Violations that are shown of a verdict.
const SHOWN_MAX: usize = 12;

/// Maximum time until the world is idle.
const PATIENCE: Duration = Duration::from_mins(2);

/// Promotes standbys under load, and judges the histories.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Seed from which both runs follow.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Number of failovers, half of them to a synchronous standby.
    #[arg(long, default_value_t = 10)]
    rounds: usize,

    /// Folder in which the folders of the runs are created.
    #[arg(long, default_value = "target/chaos")]
    folder: PathBuf,

    /// Path of the desk's binary, built with the features `scripted` and `failpoints`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("failover", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let sync = promoted(arguments, SYNC_FAILOVER, arguments.rounds.div_ceil(2))?;
    let lagging = promoted(arguments, ASYNC_FAILOVER, arguments.rounds / 2)?;
    let again = StoredAgain::read(&lagging.folder)?;
    let count = |outcome: &Outcome, invariant| outcome.verdict.count(invariant);
    let lost = count(&lagging, Invariant::NoLoss);
    ui::put(&format!(
        "failover: rounds={} sync_lost={} sync_doubled={} async_stored_again={} async_named={} \
         async_lost_unnamed={lost} new_lost={lost}",
        arguments.rounds,
        count(&sync, Invariant::NoLoss),
        count(&sync, Invariant::NoDuplicate),
        again.stored,
        again.refused,
    ));
    ensure!(sync.verdict.counts.is_empty(), "a synchronous failover broke a promise");
    let broken = broken_always(&lagging.verdict);
    ensure!(broken.is_empty(), "a failover to a standby that lags broke {}", broken.join(" "));
    ensure!(again.stored > 0, "no failover took a commit away, which proves nothing");
    for outcome in [sync, lagging] {
        fs::remove_dir_all(outcome.folder)?;
    }
    Ok(())
}

/// Runs a world with so many failovers.
fn promoted(arguments: &Arguments, fault: Fault, rounds: usize) -> Result<Outcome> {
    ui::say(&format!("{fault:?}, {rounds} times"));
    let outcome = run(&Options {
        seed: arguments.seed,
        lasts: Duration::ZERO,
        events_min: 1,
        wanted: Wanted { faults: vec![fault; rounds], ..Wanted::default() },
        at_random: false,
        nodes: 3,
        redis: true,
        scale: Scale {
            agents: 60,
            authors: 16,
            floods: 0,
            rate_per_s: 150,
            looks_percent: 1,
            // A revocation of access is a commit too, and may be taken away.
            rooms: 0,
            jobs: 0,
            letters: 0,
            calls_per_second: None,
        },
        street: None,
        patience: PATIENCE,
        mutation: mutants::mutation(None)?,
        desk: arguments.desk.clone(),
        folder: arguments.folder.clone(),
    })?;
    let shown = outcome.verdict.violations.iter().take(SHOWN_MAX);
    shown.for_each(|violation| ui::put(&violation.to_string()));
    ui::put(&outcome.verdict.summary());
    Ok(outcome)
}
