//! Planted bugs: each must be found within the seeds.

use std::ops::Range;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::report;
use crate::seeds::play_until;
use crate::ui;

/// The bugs that a simulation can show. Those that are planted in SQL or in what calls out it cannot.
const SHOWN: [&str; 8] = ["X1", "X2", "X7", "X8", "X10", "X15", "X17", "X20"];

/// Plants each bug in a process of its own.
pub(crate) fn all(seeds: u64, jobs: usize) -> Result<bool> {
    let own = std::env::current_exe().context("could not find this program")?;
    let mut caught = 0;
    for number in SHOWN {
        let mut child = Command::new(&own);
        child.args(["--plant", number]);
        child.args(["--seeds", &seeds.to_string(), "--jobs", &jobs.to_string()]);
        caught += usize::from(child.status().context("could not start a child")?.success());
    }
    ui::say(&format!("sim-planted: caught={caught} planted={}", SHOWN.len()));
    Ok(caught == SHOWN.len())
}

/// Plants one bug, and plays until a seed finds it. Answers whether one did.
pub(crate) fn one(number: &str, seeds: Range<u64>, jobs: usize) -> Result<bool> {
    ensure!(plant(number), "no bug {number} can be planted in this build");
    let played = seeds.end - seeds.start;
    let found = play_until(seeds, jobs, |_| true);
    let first = found.first_key_value();
    ui::say(&match first {
        Some((seed, Ok(verdict))) => {
            format!("{number}: found by seed {seed}: {}", verdict.summary())
        }
        Some((seed, Err(why))) => format!("{number}: found by seed {seed}: {why}"),
        None => format!("{number}: not found by {played} seeds"),
    });
    if let Some((_, judged)) = first
        && let Ok(verdict) = judged
        && let Some(violation) = verdict.violations.first()
    {
        ui::say(&format!("  {}: {}", violation.invariant, violation.what));
    }
    Ok(first.is_some_and(|(_, judged)| !report::is_good(judged)))
}

#[cfg(feature = "planted")]
fn plant(number: &str) -> bool {
    nightdesk_types::planted::plant(number)
}

#[cfg(not(feature = "planted"))]
const fn plant(_number: &str) -> bool {
    false
}
