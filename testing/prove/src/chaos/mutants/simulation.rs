//! The simulation, as the stage of a bug that needs more nodes or more luck than real processes have.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Mutant;

/// How many seeds may be played until one shows it.
const SEEDS_MAX: u64 = 500;

/// Has the simulation play until a seed shows a bug, and that seed once more without it. Answers what
/// it said.
pub fn simulated(mutant: &Mutant, simulation: &Path) -> Result<String> {
    let played = Command::new(simulation)
        .args(["--plant", mutant.number, "--seeds", &SEEDS_MAX.to_string()])
        .output()
        .with_context(|| format!("could not run the simulation, {}", simulation.display()))?;
    let said = String::from_utf8_lossy(&played.stdout).trim().to_owned();
    let promise = format!(": {}: ", mutant.breaks);
    ensure!(played.status.success() && said.contains(&promise), "{said}");
    Ok(said)
}
