//! Checks that the judge finds every planted bug, and finds none in a clean desk.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_prove::chaos::mutants::{self, Mutant, Needs, Place, Stage};
use nightdesk_prove::chaos::run::{Planted, run};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Maximum number of seeds that a bug may need.
const SEEDS_MAX: usize = 3;

/// Checks that the judge finds every planted bug.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// `all`, or numbers separated by commas.
    #[arg(long, default_value = "all")]
    mutants: String,

    /// Seed for all mutants.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Minimum seconds for which events are sent.
    #[arg(long, default_value_t = 6)]
    seconds: u64,

    /// Folder in which the folders of the runs are created.
    #[arg(long, default_value = "target/chaos")]
    folder: PathBuf,

    /// Path of the desk's binary, built with the features `scripted` and `planted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,

    /// Path of the simulation's binary, built with the feature `planted`.
    #[arg(long, env = "NIGHTDESK_SIM_BIN", default_value = "target/sim/sim/nightdesk-sim")]
    simulation: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("mutants-of-the-desk", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let mutants = mutants::wanted(&arguments.mutants)?;
    let mut clean = Vec::new();
    let mut caught = 0;
    for mutant in &mutants {
        let began = Instant::now();
        caught += usize::from(is_caught(mutant, arguments, &mut clean));
        ui::say(&format!("{} took {} s", mutant.number, began.elapsed().as_secs()));
    }
    let planted = mutants.len();
    ui::put(&format!("mutants-of-the-desk: caught={caught} planted={planted}"));
    ensure!(caught == planted, "{} bugs were missed", planted - caught);
    Ok(())
}

/// Returns true if one of the seeds catches a bug. The machine's speed does not follow from a seed, so another seed may
/// be needed.
fn is_caught(mutant: &Mutant, arguments: &Arguments, clean: &mut Vec<(u64, Needs)>) -> bool {
    (arguments.seed..).take(SEEDS_MAX).any(|seed| {
        let place = Place {
            seed,
            seconds: arguments.seconds,
            desk: &arguments.desk,
            simulation: &arguments.simulation,
            folder: &arguments.folder,
        };
        let shown = match mutant.stage {
            Stage::Processes(planted, needs) => shows(mutant, (planted, needs), &place)
                .and_then(|()| stays_clean(needs, &place, clean)),
            Stage::Simulation => simulates(mutant, &place),
        };
        tell(mutant, seed, &shown);
        shown.is_ok()
    })
}

fn tell(mutant: &Mutant, seed: u64, shown: &Result<()>) {
    let Mutant { number, breaks, stage } = mutant;
    ui::put(&match shown {
        Ok(()) => format!("caught {number} by {breaks} {stage}"),
        Err(error) => format!("missed {number} by seed {seed}: {error:#}"),
    });
}

/// Checks that the judge finds nothing without a bug. Otherwise a finding proves nothing.
fn stays_clean(needs: Needs, place: &Place<'_>, clean: &mut Vec<(u64, Needs)>) -> Result<()> {
    if clean.contains(&(place.seed, needs)) {
        return Ok(());
    }
    let outcome = run(&mutants::options(needs, Planted::Nothing, place)?)?;
    let broken = mutants::broken(&outcome);
    ensure!(
        broken.is_empty(),
        "without a bug, {} was broken under {needs}; the histories are in {}",
        broken.join(" "),
        outcome.folder.display()
    );
    std::fs::remove_dir_all(outcome.folder)?;
    ui::say(&format!("clean without a bug: seed {} under {needs}", place.seed));
    clean.push((place.seed, needs));
    Ok(())
}

/// Checks that real processes show the bug.
fn shows(mutant: &Mutant, (planted, needs): (Planted, Needs), place: &Place<'_>) -> Result<()> {
    let Mutant { number, breaks, .. } = mutant;
    let outcome = run(&mutants::options(needs, planted, place)?)?;
    let broken = mutants::broken(&outcome).join(" ");
    let folder = outcome.folder.display();
    ensure!(
        outcome.verdict.count(*breaks) > 0,
        "{breaks} is not among [{broken}]; the histories are in {folder}"
    );
    ui::say(&format!("{number} broke {broken}"));
    Ok(std::fs::remove_dir_all(outcome.folder)?)
}

/// Checks that the simulation shows the bug, with a seed that is clean without it.
fn simulates(mutant: &Mutant, place: &Place<'_>) -> Result<()> {
    ui::say(&mutants::simulated(mutant, place.simulation)?);
    Ok(())
}
