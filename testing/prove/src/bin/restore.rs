//! Restores PostgreSQL to an earlier point in time under load, by the commands of `docs/restore.md`.
//!
//! The gateways and the nodes keep running. Events that were confirmed after the restore arrive, and acknowledgements
//! from before it do not count. The nodes store the events again that the restore took away.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_prove::lost_commits::{StoredAgain, broken_always, is_always_held};
use nightdesk_prove::restore::{RestoreOptions, run};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Violations that are shown of a verdict.
const SHOWN_MAX: usize = 12;

/// Restores the database under load, and judges the histories.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Seed from which the load follows.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// The database is restored to so many minutes ago.
    #[arg(long, default_value_t = 10)]
    minutes: u64,

    /// Events per second that the platform sends, if the desk accepts them.
    #[arg(long, default_value_t = 60)]
    rate: u64,

    /// Folder in which the folder of the run is created.
    #[arg(long, default_value = "target/chaos")]
    folder: PathBuf,

    /// Path of the desk's binary, built with the features `scripted` and `failpoints`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("restore", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let outcome = run(&RestoreOptions {
        seed: arguments.seed,
        back: Duration::from_mins(arguments.minutes),
        rate_per_s: arguments.rate,
        desk: arguments.desk.clone(),
        folder: arguments.folder.clone(),
    })?;
    let (verdict, tally) = (&outcome.verdict, outcome.tally);
    let broken = verdict.violations.iter().filter(|found| is_always_held(found.invariant));
    broken.take(SHOWN_MAX).for_each(|violation| ui::put(&violation.to_string()));
    ui::put(&verdict.summary());
    let again = StoredAgain::read(&outcome.folder)?;
    ui::put(&format!(
        "restored: minutes={} stored_again={} named={} lost_before={}",
        arguments.minutes, again.stored, again.refused, tally.lost_before
    ));
    let seconds = tally.first_delivery.context("nothing was delivered after the restore")?;
    ui::put(&format!(
        "restore: lost_after={} stale_acks_counted={} seconds={:.1}",
        tally.lost_after,
        tally.stale_acks,
        seconds.as_secs_f64()
    ));
    ensure!(tally.lost_after == 0, "events were lost that were confirmed after the restore");
    ensure!(tally.stale_acks == 0, "acknowledgements from before the restore were counted");
    let broken = broken_always(verdict);
    ensure!(broken.is_empty(), "a restore broke {}", broken.join(" "));
    ensure!(again.stored > 0, "the restore took no event away, which proves nothing");
    fs::remove_dir_all(outcome.folder).context("could not remove the folder of the run")
}
