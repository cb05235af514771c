//! Finds a mutant: a seed must break the mutant's promise, and be clean without the mutant.

use std::ops::Range;

use crate::report::Judged;
use crate::seeds::play_until;
use crate::ui;

/// A mutant of the build that is running, and the promise that it breaks.
pub(crate) struct Mutant<'a> {
    /// The number that selects it.
    pub(crate) number: &'a str,
    /// The number of the promise.
    pub(crate) breaks: &'a str,
}

impl Mutant<'_> {
    /// Plays seeds with the mutant until one of them breaks its promise. Returns true if that seed breaks no promise
    /// without the mutant.
    pub(crate) fn is_found(&self, seeds: Range<u64>, jobs: usize) -> bool {
        let Self { number, breaks } = self;
        let played = seeds.end - seeds.start;
        let is_found = |judged: &Judged| found(judged, breaks).is_some();
        let failed = play_until(seeds, jobs, Some(number), is_found);
        let first = failed.iter().find_map(|(seed, judged)| Some((seed, found(judged, breaks)?)));
        let Some((seed, what)) = first else {
            ui::say(&format!("{number}: {breaks} was not found broken by {played} seeds"));
            return false;
        };
        let is_clean = play_until(*seed..seed + 1, 1, None, |_| true).is_empty();
        let without = if is_clean { "it is clean without" } else { "BUT IT IS NOT CLEAN WITHOUT" };
        ui::say(&format!("{number}: found by seed {seed}: {breaks}: {what}; {without}"));
        is_clean
    }
}

/// Returns the description of a violation of this promise, if there is one.
fn found<'a>(judged: &'a Judged, promise: &str) -> Option<&'a str> {
    let violations = &judged.as_ref().ok()?.violations;
    let broken = violations.iter().find(|violation| violation.invariant.number() == promise);
    broken.map(|violation| violation.what.as_str())
}
