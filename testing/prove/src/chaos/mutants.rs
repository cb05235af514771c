//! Lists the mutants of the desk: each has one bug, which the judge must find from outside.

mod needs;
mod paused_owner;
mod simulation;

use std::path::Path;

use anyhow::{Context, Result};
use nightdesk_judge::Invariant;

use super::mutation::Mutation;
use super::run::Outcome;
use needs::{
    CALM, FIRES, HANG_UPS, LENT, LETTERS, OWNER_PAUSED, RESETS, SLEEPERS, STORE_AWAY, WRONG_CLOCK,
};
pub use needs::{Needs, options};
pub use simulation::simulated;

/// A desk with a bug of `testing/mutants`, and the stages on which it shows.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// The bug's number in the list of promises.
    pub number: &'static str,
    /// The promise that it breaks. The bug counts as found only if the judge reports this promise.
    pub breaks: Invariant,
    /// The place of the bug.
    pub mutation: Mutation,
    /// The conditions under which it shows in real processes, if it does.
    pub needs: Option<Needs>,
    /// True if it shows in the simulation, which defines its own conditions.
    pub is_simulated: bool,
}

/// Returns the text of a mutant in SQL.
macro_rules! file_text {
    ($name:literal) => {
        include_str!(concat!("../../../mutants/", $name, ".sql"))
    };
}

/// All mutants.
pub const ALL: [Mutant; 27] = [
    patch("X1", Invariant::DurableBeforeAck).shown_under(CALM).simulated(),
    patch("X2", Invariant::NoLoss).shown_under(CALM).simulated(),
    sql("X3", Invariant::NoLoss, file_text!("03-entries-are-numbered-by-a-sequence"))
        .shown_under(CALM),
    sql("X4", Invariant::NoLoss, file_text!("04-a-later-event-makes-earlier-ones-duplicates"))
        .shown_under(CALM),
    sql("X5", Invariant::OneOwner, file_text!("05-a-former-owner-may-write"))
        .shown_under(OWNER_PAUSED),
    sql("X6", Invariant::NoDuplicate, file_text!("06-acked-entries-are-delivered-again"))
        .shown_under(RESETS),
    patch("X7", Invariant::StableId).shown_under(RESETS).simulated(),
    patch("X8", Invariant::Order).shown_under(RESETS).simulated(),
    sql("X9", Invariant::NoMisdelivery, file_text!("09-an-event-goes-to-any-agent-of-the-tenant"))
        .shown_under(CALM),
    patch("X10", Invariant::NoWrongRevocation).shown_under(STORE_AWAY).simulated(),
    patch("X11", Invariant::Fire).shown_under(FIRES),
    patch("X12", Invariant::Fire).shown_under(WRONG_CLOCK),
    patch("X13", Invariant::Wake).shown_under(SLEEPERS),
    patch("X14", Invariant::NoLoss).shown_under(HANG_UPS),
    patch("X15", Invariant::NoLoss).simulated(),
    patch("X16", Invariant::NoHoneypot).shown_under(SLEEPERS),
    patch("X17", Invariant::Stop).shown_under(CALM).simulated(),
    patch("X18", Invariant::Capability).shown_under(LENT),
    sql("X19", Invariant::NoMisdelivery, file_text!("19-tenants-are-not-separated"))
        .shown_under(RESETS),
    patch("X20", Invariant::Revoked).simulated(),
    sql("X21", Invariant::NoLoss, file_text!("21-a-policy-admits-one-tenant-of-a-batch"))
        .shown_under(CALM),
    patch("X22", Invariant::NoLoss).simulated(),
    patch("X23", Invariant::NoMisdelivery).shown_under(CALM),
    patch("X24", Invariant::NoDuplicate).shown_under(LETTERS),
    sql("X25", Invariant::Exchange, file_text!("25-a-late-reply-counts")).shown_under(LETTERS),
    sql("X26", Invariant::NoMisdelivery, file_text!("26-the-grant-of-one-tenant-is-enough"))
        .shown_under(LETTERS),
    sql("X27", Invariant::Shelf, file_text!("27-a-changed-skill-is-overwritten"))
        .shown_under(LETTERS),
];

const fn patch(number: &'static str, breaks: Invariant) -> Mutant {
    let mutation = Mutation::Patch(number);
    Mutant { number, breaks, mutation, needs: None, is_simulated: false }
}

const fn sql(number: &'static str, breaks: Invariant, text: &'static str) -> Mutant {
    Mutant { number, breaks, mutation: Mutation::Sql(text), needs: None, is_simulated: false }
}

impl Mutant {
    /// Adds real processes under these conditions to its stages.
    const fn shown_under(self, needs: Needs) -> Self {
        Self { needs: Some(needs), ..self }
    }

    /// Adds the simulation to its stages.
    const fn simulated(self) -> Self {
        Self { is_simulated: true, ..self }
    }
}

/// Finds the mutants of these numbers, or `all`, in the order of the list.
pub fn wanted(list: &str) -> Result<Vec<Mutant>> {
    if list == "all" {
        return Ok(ALL.to_vec());
    }
    list.split(',').map(find).collect()
}

/// Returns the mutation of this number, if there is one.
pub fn mutation(number: Option<&str>) -> Result<Mutation> {
    number.map_or(Ok(Mutation::Nothing), |number| Ok(find(number)?.mutation))
}

fn find(number: &str) -> Result<Mutant> {
    let found = ALL.iter().find(|mutant| mutant.number == number);
    found.copied().with_context(|| format!("there is no mutant {number}"))
}

/// Location and duration of the runs.
#[derive(Debug)]
pub struct Place<'a> {
    /// Seed of all runs.
    pub seed: u64,
    /// Minimum seconds for which events are sent.
    pub seconds: u64,
    /// Path of the mutated desk's binary, built with the features `scripted` and `failpoints`.
    pub desk: &'a Path,
    /// Folder of the histories.
    pub folder: &'a Path,
}

/// Returns the promises that the judge reports as broken.
pub fn broken(outcome: &Outcome) -> Vec<&'static str> {
    outcome.verdict.counts.keys().map(|invariant| invariant.number()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    /// Reads the mutants' files. Returns the first line of each by its number.
    fn first_lines() -> BTreeMap<String, String> {
        let mut lines = BTreeMap::new();
        for entry in fs::read_dir("../mutants").unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let Ok(number) = name.split('-').next().unwrap().parse::<u32>() else { continue };
            let text = fs::read_to_string(&path).unwrap();
            let first = text.lines().next().unwrap().trim_start_matches("-- ").to_owned();
            assert_eq!(lines.insert(format!("X{number}"), first), None, "{name}");
        }
        lines
    }

    #[test]
    fn every_mutant_has_a_file_that_names_its_promise_and_a_stage() {
        let lines = first_lines();

        assert_eq!(lines.len(), ALL.len());
        for Mutant { number, breaks, needs, is_simulated, .. } in ALL {
            let line = &lines[number];
            assert!(line.starts_with(&format!("{}: ", breaks.number())), "{number}: {line}");
            assert!(needs.is_some() || is_simulated, "{number} has no stage");
        }
    }
}
