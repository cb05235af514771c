//! Owner kill: the node that listens for a Discord bot dies again and again, under load, and the other goes on.
//!
//! Two nodes share one bot on the street of [`crate::chaos`]. Whoever listens is killed, or dies by itself at a step
//! of its own: between two commits, when it took the bot over (K16), with a new session that is not stored (K17). Take-over
//! is from its death until Discord lets the other have the session. The judge says whether anything was lost.

mod deaths;
mod reign;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use nightdesk_judge::{Event, Verdict, judge};

use crate::chaos::manner::Manners;
use crate::chaos::plan::Scale;
use crate::chaos::run::{come_to_rest, dial_in, make_folder};
use crate::chaos::street::{Order, Rates};
use crate::chaos::world::{Design, World};
use crate::ui;
use reign::Reign;

/// Agents, and how often people write to them.
const SCALE: Scale = Scale {
    agents: 60,
    rate_per_s: 1,
    looks_percent: 0,
    rooms: 0,
    jobs: 0,
    letters: 0,
    calls_per_second: None,
};

/// How long it may take to come to rest.
const PATIENCE: Duration = Duration::from_secs(75);

/// How long everything works before the first death.
const WARM: Duration = Duration::from_secs(3);

/// What a run is told.
#[derive(Debug)]
pub struct Options {
    /// Everything else follows from it.
    pub seed: u64,
    /// How often the owner dies.
    pub kills: usize,
    /// How much people write on Discord, in a second.
    pub rate: u64,
    /// The bug that is planted in the desk, by its number. Then the owner is only killed.
    pub planted: Option<String>,
    /// The desk's binary.
    pub desk: PathBuf,
    /// Where the folder of the run is made.
    pub folder: PathBuf,
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Where its histories are.
    pub folder: PathBuf,
    /// How it went.
    pub seen: Seen,
    /// What the judge says.
    pub verdict: Verdict,
}

/// What was seen while it ran.
#[derive(Debug)]
pub struct Seen {
    /// From each death to the session of the next owner, in the order of the deaths.
    pub takeovers: Vec<Duration>,
    /// From the signal to stop to the session of the next owner.
    pub handovers: Vec<Duration>,
    /// Sessions that were begun, and how many had to be.
    pub identifies: (usize, usize),
    /// What people wrote.
    pub events: u64,
}

/// Runs.
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
    let deaths = deaths::all(options.kills, options.planted.is_some());
    let needed = 1 + deaths.iter().map(|death| death.identifies()).sum::<usize>();
    let takeovers = reign.die(&mut world, &deaths)?;
    let handovers = reign.hand_over(&mut world)?;
    let identifies = (world.street(&Order::Count)?.identifies, needed);
    let events = come_to_rest(&mut world, PATIENCE)?.told;
    world.end()?;
    Ok(Seen { takeovers, handovers, identifies, events })
}

fn design<'a>(options: &'a Options, folder: &Path) -> Design<'a> {
    let planted = options.planted.clone().map(|number| ("NIGHTDESK_PLANTED", number));
    Design {
        seed: options.seed,
        desk: &options.desk,
        nodes: 2,
        redis: true,
        scale: SCALE,
        street: Some(Rates { discord: options.rate, telegram: 0 }),
        manners: Manners::Polite,
        odd_targets: false,
        environment: planted.into_iter().collect(),
        alter: None,
        folder: folder.to_owned(),
    }
}
