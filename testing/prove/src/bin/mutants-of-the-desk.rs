//! Mutants of the desk: the judge must find every bug that is planted, and none where there is
//! none.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_prove::chaos::mutants::{self, Mutant, Needs, Place};
use nightdesk_prove::chaos::run::{Planted, run};
use nightdesk_prove::ui;
use nightdesk_prove::worker::Work;

/// Checks that the judge finds every bug that is planted.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// `all`, or numbers with commas between them.
    #[arg(long, default_value = "all")]
    mutants: String,

    /// The same for all.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// For how long events are sent, at least.
    #[arg(long, default_value_t = 6)]
    seconds: u64,

    /// Where the folders of the runs are made.
    #[arg(long, default_value = "target/chaos")]
    folder: PathBuf,

    /// The desk's binary, built with the features `scripted` and `planted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.work {
        Some(work) => work.run(),
        None => prove(&arguments),
    };
    ui::ended("mutants-of-the-desk", outcome)
}

fn prove(arguments: &Arguments) -> Result<()> {
    let mutants = mutants::wanted(&arguments.mutants)?;
    let place = Place {
        seed: arguments.seed,
        seconds: arguments.seconds,
        desk: &arguments.desk,
        folder: &arguments.folder,
    };
    let mut clean: Vec<Needs> = Vec::new();
    let mut caught = 0;
    for mutant in &mutants {
        if !clean.contains(&mutant.needs) {
            stays_clean(mutant.needs, &place)?;
            clean.push(mutant.needs);
        }
        caught += usize::from(is_caught(mutant, &place)?);
    }
    let planted = mutants.len();
    ui::put(&format!("mutants-of-the-desk: caught={caught} planted={planted}"));
    ensure!(caught == planted, "{} bugs were missed", planted - caught);
    Ok(())
}

/// Without a bug nothing may be found, or finding something means nothing.
fn stays_clean(needs: Needs, place: &Place<'_>) -> Result<()> {
    let outcome = run(&mutants::options(needs, Planted::Nothing, place)?)?;
    let broken = mutants::broken(&outcome);
    ensure!(
        broken.is_empty(),
        "without a bug, {} was broken under {}; the histories are in {}",
        broken.join(" "),
        needs.faults,
        outcome.folder.display()
    );
    std::fs::remove_dir_all(outcome.folder)?;
    ui::put(&format!("clean under {} on {} nodes", needs.faults, needs.nodes));
    Ok(())
}

fn is_caught(mutant: &Mutant, place: &Place<'_>) -> Result<bool> {
    let began = Instant::now();
    let outcome = run(&mutants::options(mutant.needs, mutant.planted, place)?)?;
    let broken = mutants::broken(&outcome);
    let secs = began.elapsed().as_secs();
    if !mutants::is_seen_outside(&outcome) {
        let folder = outcome.folder.display();
        ui::put(&format!("missed {}; the histories are in {folder}", mutant.number));
        return Ok(false);
    }
    std::fs::remove_dir_all(outcome.folder)?;
    ui::put(&format!("caught {} by {} in {secs} s", mutant.number, broken.join(" ")));
    Ok(true)
}
