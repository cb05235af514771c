//! Checks that the judge finds the bug of every mutant, and finds none in the same build without a mutant.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_prove::chaos::mutants::{self, Mutant, Needs, Place};
use nightdesk_prove::chaos::mutation::Mutation;
use nightdesk_prove::chaos::run::run;
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Maximum number of seeds that a bug may need.
const SEEDS_MAX: usize = 3;

/// Checks that the judge finds the bug of every mutant.
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

    /// Path of the mutated desk's binary, built with the features `scripted` and `failpoints`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,

    /// Path of the mutated simulation's binary.
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
    let builds = BTreeSet::from([&arguments.desk, &arguments.simulation]).len();
    let planted = mutants.len();
    ui::put(&format!("mutants-of-the-desk: caught={caught} planted={planted} builds={builds}"));
    ensure!(caught == planted, "{} bugs were missed", planted - caught);
    Ok(())
}

/// Returns true if every stage of a mutant shows its bug.
fn is_caught(mutant: &Mutant, arguments: &Arguments, clean: &mut Vec<(u64, Needs)>) -> bool {
    let in_processes =
        mutant.needs.is_none_or(|needs| processes_show(mutant, needs, arguments, clean));
    in_processes && (!mutant.is_simulated || simulation_shows(mutant, arguments))
}

/// Returns true if real processes show a bug with one of the seeds. The machine's speed does not follow from a seed, so
/// another seed may be needed.
fn processes_show(
    mutant: &Mutant,
    needs: Needs,
    arguments: &Arguments,
    clean: &mut Vec<(u64, Needs)>,
) -> bool {
    (arguments.seed..).take(SEEDS_MAX).any(|seed| {
        let (seconds, desk) = (arguments.seconds, &arguments.desk);
        let place = Place { seed, seconds, desk, folder: &arguments.folder };
        let shown = shows(mutant, needs, &place).and_then(|()| stays_clean(needs, &place, clean));
        tell(mutant, &format!("in real processes, seed {seed}"), &shown);
        shown.is_ok()
    })
}

/// Returns true if the simulation shows the bug, with a seed that is clean without it.
fn simulation_shows(mutant: &Mutant, arguments: &Arguments) -> bool {
    let shown = mutants::simulated(mutant, &arguments.simulation).map(|said| ui::say(&said));
    tell(mutant, "in the simulation", &shown);
    shown.is_ok()
}

fn tell(mutant: &Mutant, stage: &str, shown: &Result<()>) {
    let Mutant { number, breaks, .. } = mutant;
    ui::put(&match shown {
        Ok(()) => format!("caught {number} by {breaks} {stage}"),
        Err(error) => format!("missed {number} {stage}: {error:#}"),
    });
}

/// Checks that the judge finds nothing without a bug. Otherwise a finding proves nothing.
fn stays_clean(needs: Needs, place: &Place<'_>, clean: &mut Vec<(u64, Needs)>) -> Result<()> {
    if clean.contains(&(place.seed, needs)) {
        return Ok(());
    }
    let outcome = run(&mutants::options(needs, Mutation::Nothing, place)?)?;
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
fn shows(mutant: &Mutant, needs: Needs, place: &Place<'_>) -> Result<()> {
    let Mutant { number, breaks, mutation, .. } = mutant;
    let outcome = run(&mutants::options(needs, *mutation, place)?)?;
    let broken = mutants::broken(&outcome).join(" ");
    let folder = outcome.folder.display();
    ensure!(
        outcome.verdict.count(*breaks) > 0,
        "{breaks} is not among [{broken}]; the histories are in {folder}"
    );
    ui::say(&format!("{number} broke {broken}"));
    Ok(std::fs::remove_dir_all(outcome.folder)?)
}
