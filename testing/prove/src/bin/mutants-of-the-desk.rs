//! Mutants of the desk: the judge must find every bug that is planted, and none where there is
//! none.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_prove::chaos::mutants::{self, Mutant, Needs, Place, Stage};
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

    /// The simulation's binary, built with the feature `planted`.
    #[arg(long, env = "NIGHTDESK_SIM_BIN", default_value = "target/sim/sim/nightdesk-sim")]
    simulation: PathBuf,
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
        simulation: &arguments.simulation,
        folder: &arguments.folder,
    };
    let mut clean: Vec<Needs> = Vec::new();
    let mut caught = 0;
    for mutant in &mutants {
        let began = Instant::now();
        let shown = match mutant.stage {
            Stage::Processes(planted, needs) => {
                if !clean.contains(&needs) {
                    stays_clean(needs, &place)?;
                    clean.push(needs);
                }
                is_seen(mutant, (planted, needs), &place)?
            }
            Stage::Simulation => is_simulated(mutant, &place)?,
        };
        caught += usize::from(shown);
        ui::say(&format!("{} took {} s", mutant.number, began.elapsed().as_secs()));
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

/// Whether real processes show it.
fn is_seen(mutant: &Mutant, (planted, needs): (Planted, Needs), place: &Place<'_>) -> Result<bool> {
    let Mutant { number, breaks, .. } = mutant;
    let outcome = run(&mutants::options(needs, planted, place)?)?;
    let broken = mutants::broken(&outcome).join(" ");
    if outcome.verdict.count(*breaks) == 0 {
        let folder = outcome.folder.display();
        ui::put(&format!(
            "missed {number}: {breaks} is not among [{broken}]; the histories are in {folder}"
        ));
        return Ok(false);
    }
    std::fs::remove_dir_all(outcome.folder)?;
    ui::put(&format!("caught {number} by {breaks} in real processes, of [{broken}]"));
    Ok(true)
}

/// Whether the simulation shows it.
fn is_simulated(mutant: &Mutant, place: &Place<'_>) -> Result<bool> {
    let Mutant { number, breaks, .. } = mutant;
    let shown = mutants::simulated(mutant, place.simulation)?;
    ui::put(&match &shown {
        Some(said) => format!("caught {number} by {breaks} in the simulation, {said}"),
        None => format!("missed {number}: no simulated seed breaks {breaks} with it alone"),
    });
    Ok(shown.is_some())
}
