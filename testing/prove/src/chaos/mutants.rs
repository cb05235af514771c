//! Mutants of the desk: each has one bug, and the judge must find it from outside.

mod database;

use std::time::Duration;

use anyhow::{Context, Result};
use nightdesk_judge::Invariant;

use super::faults::Wanted;
use super::plan::Scale;
use super::run::{Options, Outcome, Planted};

/// How long a world with a bug in it may take to come to rest. Some never do.
const PATIENCE: Duration = Duration::from_secs(12);

/// A desk with a bug, and what must happen for it to show.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// The bug's number in the list of promises.
    pub number: &'static str,
    /// Where it is planted.
    pub planted: Planted,
    /// What must happen besides.
    pub needs: Needs,
}

/// What must happen for a bug to show. Whoever needs the same shares a run without any bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Faults, as they are listed.
    pub faults: &'static str,
    /// Nodes.
    pub nodes: usize,
    /// How long it takes to show.
    pub seconds: u64,
}

const CALM: Needs = Needs { faults: "none", nodes: 1, seconds: 0 };
const ODD_GATEWAYS: Needs = Needs { faults: "F46", nodes: 1, seconds: 0 };
const RESETS: Needs = Needs { faults: "F46,F35", nodes: 1, seconds: 0 };
const STORE_AWAY: Needs = Needs { faults: "F46,F13", nodes: 1, seconds: 0 };
/// An agent that leaves has as long to be called as the promise says.
const SLEEPERS: Needs = Needs { faults: "F46", nodes: 1, seconds: 40 };
const HANG_UPS: Needs = Needs { faults: "F24", nodes: 1, seconds: 0 };

/// Every mutant there is.
pub const ALL: [Mutant; 13] = [
    in_desk("X1", CALM),
    in_desk("X2", CALM),
    in_database("X3", database::number_by_sequence, CALM),
    in_database("X4", database::dedupe_by_mark, CALM),
    in_database("X6", database::hand_over_after_ack, RESETS),
    in_desk("X7", RESETS),
    in_desk("X8", RESETS),
    in_database("X9", database::route_by_tenant, CALM),
    in_desk("X10", STORE_AWAY),
    in_desk("X13", SLEEPERS),
    in_desk("X14", HANG_UPS),
    in_database("X19", database::no_wall, ODD_GATEWAYS),
    in_database("X21", database::one_tenant_wall, CALM),
];

const fn in_desk(number: &'static str, needs: Needs) -> Mutant {
    Mutant { number, planted: Planted::InDesk(number), needs }
}

const fn in_database(number: &'static str, alter: super::world::Alter, needs: Needs) -> Mutant {
    Mutant { number, planted: Planted::InDatabase(alter), needs }
}

/// Finds the mutants of these numbers, `all` of them, in the order of the list.
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

/// The options of a short run in which this may happen.
pub fn options(needs: Needs, planted: Planted, place: &Place<'_>) -> Result<Options> {
    Ok(Options {
        seed: place.seed,
        lasts: Duration::from_secs(place.seconds.max(needs.seconds)),
        events_min: 0,
        wanted: Wanted::read(needs.faults)?,
        at_random: false,
        nodes: needs.nodes,
        redis: false,
        scale: Scale { agents: 40, rate_per_s: 150, looks_percent: 30 },
        patience: if matches!(planted, Planted::Nothing) { 5 * PATIENCE } else { PATIENCE },
        planted,
        desk: place.desk.to_owned(),
        folder: place.folder.to_owned(),
    })
}

/// Where and how long runs of mutants are.
#[derive(Debug)]
pub struct Place<'a> {
    /// The same for all.
    pub seed: u64,
    /// How long events are sent, at least.
    pub seconds: u64,
    /// The desk's binary, built with the features `scripted` and `planted`.
    pub desk: &'a std::path::Path,
    /// Where histories go.
    pub folder: &'a std::path::Path,
}

/// The promises that the judge says were broken.
pub fn broken(outcome: &Outcome) -> Vec<&'static str> {
    outcome.verdict.counts.keys().map(|invariant| invariant.number()).collect()
}

/// Whether somebody outside saw it: numbers with holes are seen in the tables only.
pub fn is_seen_outside(outcome: &Outcome) -> bool {
    outcome.verdict.counts.keys().any(|invariant| *invariant != Invariant::NoHoles)
}
