//! Lists the mutants of the desk: each has one bug, which the judge must find from outside.

mod database;
mod needs;
mod paused_owner;
mod simulation;

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use nightdesk_judge::Invariant;

use super::run::{Outcome, Planted};
use needs::{
    CALM, FIRES, HANG_UPS, LENT, LETTERS, OWNER_PAUSED, RESETS, SLEEPERS, STORE_AWAY, WRONG_CLOCK,
};
pub use needs::{Needs, options};
pub use simulation::simulated;

/// A desk with a bug, and the stage on which it shows.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// The bug's number in the list of promises.
    pub number: &'static str,
    /// The promise that it breaks. The bug counts as found only if the judge reports this promise.
    pub breaks: Invariant,
    /// The stage on which it shows.
    pub stage: Stage,
}

/// The stage on which a bug shows.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// Real processes with this bug planted, under these conditions.
    Processes(Planted, Needs),
    /// The simulation, which defines its own conditions.
    Simulation,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Processes(..) => "in real processes",
            Self::Simulation => "in the simulation",
        })
    }
}

impl Mutant {
    /// Returns the bug to plant in real processes.
    pub fn planted(&self) -> Result<Planted> {
        match self.stage {
            Stage::Processes(planted, _) => Ok(planted),
            Stage::Simulation => bail!("only the simulation shows {}", self.number),
        }
    }
}

/// All mutants.
pub const ALL: [Mutant; 27] = [
    in_desk("X1", Invariant::DurableBeforeAck, CALM),
    in_desk("X2", Invariant::NoLoss, CALM),
    in_database("X3", Invariant::NoLoss, database::number_by_sequence, CALM),
    in_database("X4", Invariant::NoLoss, database::dedupe_by_mark, CALM),
    in_database("X5", Invariant::OneOwner, database::no_fence, OWNER_PAUSED),
    in_database("X6", Invariant::NoDuplicate, database::hand_over_after_ack, RESETS),
    in_desk("X7", Invariant::StableId, RESETS),
    in_desk("X8", Invariant::Order, RESETS),
    in_database("X9", Invariant::NoMisdelivery, database::route_by_tenant, CALM),
    in_desk("X10", Invariant::NoWrongRevocation, STORE_AWAY),
    in_desk("X11", Invariant::Fire, FIRES),
    in_desk("X12", Invariant::Fire, WRONG_CLOCK),
    in_desk("X13", Invariant::Wake, SLEEPERS),
    in_desk("X14", Invariant::NoLoss, HANG_UPS),
    in_simulation("X15", Invariant::NoLoss),
    in_desk("X16", Invariant::NoHoneypot, SLEEPERS),
    in_desk("X17", Invariant::Stop, CALM),
    in_desk("X18", Invariant::Capability, LENT),
    in_database("X19", Invariant::NoMisdelivery, database::no_wall, RESETS),
    in_simulation("X20", Invariant::Revoked),
    in_database("X21", Invariant::NoLoss, database::one_tenant_wall, CALM),
    in_simulation("X22", Invariant::NoLoss),
    in_desk("X23", Invariant::NoMisdelivery, CALM),
    in_desk("X24", Invariant::NoDuplicate, LETTERS),
    in_database("X25", Invariant::Exchange, database::late_reply_counts, LETTERS),
    in_database("X26", Invariant::NoMisdelivery, database::one_side_grants, LETTERS),
    in_database("X27", Invariant::Shelf, database::overwritten_in_place, LETTERS),
];

const fn in_desk(number: &'static str, breaks: Invariant, needs: Needs) -> Mutant {
    Mutant { number, breaks, stage: Stage::Processes(Planted::InDesk(number), needs) }
}

const fn in_database(
    number: &'static str,
    breaks: Invariant,
    alter: super::world::Alter,
    needs: Needs,
) -> Mutant {
    Mutant { number, breaks, stage: Stage::Processes(Planted::InDatabase(alter), needs) }
}

const fn in_simulation(number: &'static str, breaks: Invariant) -> Mutant {
    Mutant { number, breaks, stage: Stage::Simulation }
}

/// Finds the mutants of these numbers, or `all`, in the order of the list.
pub fn wanted(list: &str) -> Result<Vec<Mutant>> {
    if list == "all" {
        return Ok(ALL.to_vec());
    }
    let find = |number: &str| {
        let found = ALL.iter().find(|mutant| mutant.number == number);
        found.copied().with_context(|| format!("there is no mutant {number}"))
    };
    list.split(',').map(find).collect()
}

/// Location and duration of the runs.
#[derive(Debug)]
pub struct Place<'a> {
    /// Seed of all runs.
    pub seed: u64,
    /// Minimum seconds for which events are sent.
    pub seconds: u64,
    /// Path of the desk's binary, built with the features `scripted` and `planted`.
    pub desk: &'a Path,
    /// Path of the simulation's binary, built with the feature `planted`.
    pub simulation: &'a Path,
    /// Folder of the histories.
    pub folder: &'a Path,
}

/// Returns the promises that the judge reports as broken.
pub fn broken(outcome: &Outcome) -> Vec<&'static str> {
    outcome.verdict.counts.keys().map(|invariant| invariant.number()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_that_can_be_planted_is_shown_somewhere() {
        let planted = nightdesk_types::planted::Bug::ALL.map(nightdesk_types::planted::Bug::number);

        assert_eq!(ALL.map(|mutant| mutant.number), planted);
    }
}
