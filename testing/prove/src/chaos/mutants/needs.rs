//! Defines the conditions under which a bug shows.

use std::fmt;
use std::time::Duration;

use anyhow::Result;

use super::{Place, paused_owner};
use crate::chaos::faults::Wanted;
use crate::chaos::mutation::Mutation;
use crate::chaos::plan::Scale;
use crate::chaos::run::Options;

/// Time limit for a world with a bug to become idle. Some never do.
const PATIENCE: Duration = Duration::from_secs(12);

/// Number of rooms, one of every kind.
const ROOMS: usize = 5;

/// Conditions under which a bug shows. Bugs with the same conditions share one clean run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// List of faults.
    pub faults: &'static str,
    /// Number of nodes.
    pub nodes: usize,
    /// Seconds until the bug shows.
    pub seconds: u64,
    /// Number of agents that have jobs.
    pub jobs: usize,
    /// Number of agents that write letters.
    pub letters: usize,
    /// True if the owner of the bots is stopped until another node owns them, while sends wait.
    pub owner_paused: bool,
}

pub(super) const CALM: Needs = under("none");
/// A capability must be lent to one agent, and then requested by another.
pub(super) const LENT: Needs = Needs { seconds: 18, ..under("none") };
pub(super) const RESETS: Needs = under("F46,F35");
pub(super) const STORE_AWAY: Needs = under("F46,F13");
pub(super) const HANG_UPS: Needs = under("F24,F24,F24");
/// An agent that leaves must be called within the time that the promise states.
pub(super) const SLEEPERS: Needs = Needs { seconds: 30, ..under("F46") };
pub(super) const OWNER_PAUSED: Needs = Needs { nodes: 2, owner_paused: true, ..under("none") };

/// Some fires are not taken at once, or come from a node whose clock is wrong.
pub(super) const FIRES: Needs = Needs { jobs: 20, ..under("F45") };
pub(super) const WRONG_CLOCK: Needs = Needs { jobs: 20, ..under("F39") };

/// Some letters are repeated, and some exchanges end before their reply.
pub(super) const LETTERS: Needs = Needs { letters: 16, seconds: 18, ..under("none") };

const fn under(faults: &'static str) -> Needs {
    Needs { faults, nodes: 1, seconds: 0, jobs: 0, letters: 0, owner_paused: false }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { faults, nodes, seconds, jobs, letters, owner_paused } = self;
        let paused = if *owner_paused { ", its owner paused" } else { "" };
        let agents = format!("{jobs} jobs and {letters} who write");
        write!(f, "{faults} on {nodes} nodes for {seconds} s with {agents}{paused}")
    }
}

impl Needs {
    /// Returns the faults to inject.
    fn wanted(self) -> Result<Wanted> {
        let mut wanted = Wanted::read(self.faults)?;
        wanted.faults.extend(self.owner_paused.then_some(paused_owner::FAULT));
        Ok(wanted)
    }

    /// Returns the scale of the run. With slow bots sends wait for their turn: more than a new owner makes at once.
    const fn scale(self) -> Scale {
        let (rate_per_s, calls_per_second) =
            if self.owner_paused { (40, Some(2)) } else { (150, None) };
        Scale {
            agents: 40,
            authors: 8,
            floods: 0,
            rate_per_s,
            looks_percent: 30,
            rooms: ROOMS,
            jobs: self.jobs,
            letters: self.letters,
            calls_per_second,
        }
    }
}

/// Returns the options of a short run under these conditions.
pub fn options(needs: Needs, mutation: Mutation, place: &Place<'_>) -> Result<Options> {
    Ok(Options {
        seed: place.seed,
        lasts: Duration::from_secs(place.seconds.max(needs.seconds)),
        events_min: 0,
        wanted: needs.wanted()?,
        at_random: false,
        nodes: needs.nodes,
        redis: false,
        scale: needs.scale(),
        street: None,
        patience: if mutation == Mutation::Nothing { 5 * PATIENCE } else { PATIENCE },
        mutation,
        desk: place.desk.to_owned(),
        folder: place.folder.to_owned(),
    })
}
