//! Runs the simulation for a bug, also for those that need more nodes or rarer timing than real processes have.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::Mutant;

/// Maximum number of seeds until one shows the bug.
const SEEDS_MAX: u64 = 500;

/// Runs the simulation until a seed shows a bug, and that seed again without it. Returns its output.
pub fn simulated(mutant: &Mutant, simulation: &Path) -> Result<String> {
    let played = Command::new(simulation)
        .args(["--mutant", mutant.number, "--breaks", mutant.breaks.number()])
        .args(["--seeds", &SEEDS_MAX.to_string()])
        .output()
        .with_context(|| format!("could not run the simulation, {}", simulation.display()))?;
    let said = String::from_utf8_lossy(&played.stdout).trim().to_owned();
    ensure!(played.status.success(), "{said}");
    Ok(said)
}
