//! Kills the node that listens for a Discord bot again and again, under load, and checks that the other node continues.
//!
//! Two nodes share one bot on the street of [`crate::chaos`]. The listening node is killed, or dies by itself at a
//! step: between two commits, after a takeover (K16), or with a new session that is not stored (K17). A takeover lasts
//! from its death until Discord accepts the other node's session. The judge reports lost messages.

mod deaths;
mod reign;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use nightdesk_judge::{Event, Verdict, judge};

use crate::chaos::manner::Manners;
use crate::chaos::mutation::Mutation;
use crate::chaos::plan::Scale;
use crate::chaos::run::{come_to_rest, dial_in, make_folder};
use crate::chaos::street::{Order, Rates};
use crate::chaos::world::{Design, World};
use crate::ui;
use reign::Reign;

/// Number of agents, and the rate of messages to them.
const SCALE: Scale = Scale {
    agents: 60,
    authors: 1,
    floods: 0,
    rate_per_s: 1,
    looks_percent: 0,
    rooms: 0,
    jobs: 0,
    letters: 0,
    calls_per_second: None,
};

/// Time limit for the world to become idle.
const PATIENCE: Duration = Duration::from_secs(75);

/// Time of normal operation before the first death.
const WARM: Duration = Duration::from_secs(3);

/// Options of a run.
#[derive(Debug)]
pub struct Options {
    /// Seed from which the whole run follows.
    pub seed: u64,
    /// Number of the owner's deaths.
    pub kills: usize,
    /// Messages per second on Discord.
    pub rate: u64,
    /// The planted bug, if there is one. With a bug the owner is only killed.
    pub mutation: Mutation,
    /// Path of the desk's binary.
    pub desk: PathBuf,
    /// Folder in which the folder of the run is created.
    pub folder: PathBuf,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Folder of its histories.
    pub folder: PathBuf,
    /// Measurements of the run.
    pub seen: Seen,
    /// The judge's verdict.
    pub verdict: Verdict,
}

/// Measurements of a run.
#[derive(Debug)]
pub struct Seen {
    /// Time from each death to the session of the next owner, in order.
    pub takeovers: Vec<Duration>,
    /// Time from the stop signal to the session of the next owner.
    pub handovers: Vec<Duration>,
    /// Number of new sessions, and the number that was necessary.
    pub identifies: (usize, usize),
    /// Number of messages that people wrote.
    pub events: u64,
}

/// Runs the proof.
pub fn run(options: &Options) -> Result<Outcome> {
    let folder = make_folder(&options.folder, options.seed)?;
    let played = played(options, &folder);
    let seen =
        played.with_context(|| format!("the histories so far are in {}", folder.display()))?;
    ui::say("judging");
    let verdict = judge(&folder).with_context(|| format!("no verdict on {}", folder.display()))?;
    Ok(Outcome { folder, seen, verdict })
}

fn played(options: &Options, folder: &Path) -> Result<Seen> {
    let mut world = World::set(&design(options, folder))?;
    world.note(Event::Begin { seed: options.seed, faults: true });
    dial_in(&mut world)?;
    let mut reign = Reign::begun(&mut world, options.seed)?;
    world.street(&Order::Begin)?;
    thread::sleep(WARM);
    let deaths = deaths::all(options.kills, options.mutation != Mutation::Nothing);
    let needed = 1 + deaths.iter().map(|death| death.identifies()).sum::<usize>();
    let takeovers = reign.die(&mut world, &deaths)?;
    let handovers = reign.hand_over(&mut world)?;
    let identifies = (world.street(&Order::Count)?.identifies, needed);
    let events = come_to_rest(&mut world, PATIENCE)?.told;
    world.end()?;
    Ok(Seen { takeovers, handovers, identifies, events })
}

fn design<'a>(options: &'a Options, folder: &Path) -> Design<'a> {
    Design {
        seed: options.seed,
        desk: &options.desk,
        nodes: 2,
        redis: true,
        scale: SCALE,
        street: Some(Rates { discord: options.rate, telegram: 0 }),
        manners: Manners::Polite,
        odd_targets: false,
        mutation: options.mutation,
        folder: folder.to_owned(),
    }
}
