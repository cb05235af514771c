//! Planted bugs: each must be found within the seeds, by a seed that is clean without it.

use std::ops::Range;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::report::Judged;
use crate::seeds::play_until;
use crate::ui;

/// The bugs that a simulation can show, each with the promise that it breaks. Bugs in SQL or in outgoing calls are not
/// visible here.
const SHOWN: [(&str, &str); 9] = [
    ("X1", "I21"),
    ("X2", "I1"),
    ("X7", "I5"),
    ("X8", "I6"),
    ("X10", "I16"),
    ("X15", "I1"),
    ("X17", "I13"),
    ("X20", "I15"),
    ("X22", "I1"),
];

/// Plants each bug in a separate process.
pub(crate) fn all(seeds: u64, jobs: usize) -> Result<bool> {
    let own = std::env::current_exe().context("could not find this program")?;
    let mut caught = 0;
    for (number, _) in SHOWN {
        let mut child = Command::new(&own);
        child.args(["--plant", number]);
        child.args(["--seeds", &seeds.to_string(), "--jobs", &jobs.to_string()]);
        caught += usize::from(child.status().context("could not start a child")?.success());
    }
    ui::say(&format!("sim-planted: caught={caught} planted={}", SHOWN.len()));
    Ok(caught == SHOWN.len())
}

/// Plays seeds with a planted bug until one of them breaks the bug's promise. Returns true if that seed breaks no promise
/// without the bug.
pub(crate) fn one(number: &str, seeds: Range<u64>, jobs: usize) -> Result<bool> {
    let shown = SHOWN.iter().find(|(shown, _)| *shown == number);
    let (_, promise) = shown.with_context(|| format!("no simulation shows bug {number}"))?;
    let played = seeds.end - seeds.start;
    let is_found = |judged: &Judged| found(judged, promise).is_some();
    let failed = play_until(seeds, jobs, Some(number), is_found);
    let first = failed.iter().find_map(|(seed, judged)| Some((seed, found(judged, promise)?)));
    let Some((seed, what)) = first else {
        ui::say(&format!("{number}: {promise} was not found broken by {played} seeds"));
        return Ok(false);
    };
    let is_clean = play_until(*seed..seed + 1, 1, None, |_| true).is_empty();
    let without = if is_clean { "it is clean without" } else { "BUT IT IS NOT CLEAN WITHOUT" };
    ui::say(&format!("{number}: found by seed {seed}: {promise}: {what}; {without}"));
    Ok(is_clean)
}

/// Returns the description of a violation of this promise, if there is one.
fn found<'a>(judged: &'a Judged, promise: &str) -> Option<&'a str> {
    let violations = &judged.as_ref().ok()?.violations;
    let broken = violations.iter().find(|violation| violation.invariant.number() == promise);
    broken.map(|violation| violation.what.as_str())
}

/// Plants a bug in this process.
pub(crate) fn plant(number: &str) -> Result<()> {
    ensure!(is_planted(number), "no bug {number} can be planted in this build");
    Ok(())
}

#[cfg(feature = "planted")]
fn is_planted(number: &str) -> bool {
    nightdesk_types::planted::plant(number)
}

#[cfg(not(feature = "planted"))]
const fn is_planted(_number: &str) -> bool {
    false
}
