//! Runs a world for a long time under random faults, and watches the memory of its nodes.

mod memory;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nightdesk_judge::{Event, Verdict, judge};
use nightdesk_types::limits::STORE_AGAIN_FOR;

use crate::chance::Dice;
use crate::chaos::faults::{ALL, Fault};
use crate::chaos::jobs::Order as JobsOrder;
use crate::chaos::letters::Order as LettersOrder;
use crate::chaos::manner::Manners;
use crate::chaos::mutation::Mutation;
use crate::chaos::node::Node;
use crate::chaos::plan::Scale;
use crate::chaos::platform::Order as PlatformOrder;
use crate::chaos::run::{come_to_rest, dial_in, make_folder};
use crate::chaos::street::{Order as StreetOrder, Rates};
use crate::chaos::world::{Design, World};
use crate::ui;
use memory::MemoryWatch;

/// Range of the time from the beginning of a fault to the beginning of the next, in milliseconds.
const EVERY_MS: (u64, u64) = (15_000, 25_000);

/// Interval at which the memory of the nodes is read.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Maximum time until the world is idle.
const PATIENCE: Duration = Duration::from_mins(3);

/// A node's memory is measured from this part of the run after its start on.
const SETTLES_IN: u32 = 6;

/// Maximum ratio of a node's memory at the end to its memory when it had settled.
const RSS_RATIO_MAX: f64 = 1.2;

/// In the last part of the run only faults occur that end no node, so that the memory of every node is measured.
const LAST_PART: u32 = 3;

/// The faults that end no node.
const ENDS_NO_NODE: [&str; 7] = ["F06", "F07", "F13", "F14", "F24", "F25", "F35"];

/// Options of a run.
#[derive(Clone, Debug)]
pub struct SoakOptions {
    /// Seed from which the load and the faults follow.
    pub seed: u64,
    /// Time for which events are sent.
    pub lasts: Duration,
    /// Events per second that the platform sends.
    pub rate_per_s: u64,
    /// Messages per second on Discord, and as many on Telegram.
    pub street_per_s: u64,
    /// Path of the desk's binary.
    pub desk: PathBuf,
    /// Folder in which the folder of the run is created.
    pub folder: PathBuf,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct SoakOutcome {
    /// Folder of its histories.
    pub folder: PathBuf,
    /// Number of faults.
    pub faults: usize,
    /// The highest ratio of a node's memory at the end to its memory when it had settled.
    pub rss_ratio: f64,
    /// True if the nodes had time to fill their memory of recent events before they were measured.
    pub had_settled: bool,
    /// The judge's verdict.
    pub verdict: Verdict,
}

/// Runs a world, and judges it.
pub fn run(options: &SoakOptions) -> Result<SoakOutcome> {
    let folder = make_folder(&options.folder, options.seed)?;
    let (faults, memory) = play(options, &folder)
        .with_context(|| format!("the histories so far are in {}", folder.display()))?;
    let rss_ratio = memory.worst_ratio()?;
    ui::say("judging");
    let verdict = judge(&folder).with_context(|| format!("no verdict on {}", folder.display()))?;
    let had_settled = options.lasts / SETTLES_IN >= STORE_AGAIN_FOR;
    Ok(SoakOutcome { folder, faults, rss_ratio, had_settled, verdict })
}

impl SoakOutcome {
    /// Returns true if the memory of a node grew too much. A short run cannot tell.
    pub fn has_grown(&self) -> bool {
        self.had_settled && self.rss_ratio > RSS_RATIO_MAX
    }
}

fn play(options: &SoakOptions, folder: &Path) -> Result<(usize, MemoryWatch)> {
    let mut world = World::set(&design(options, folder))?;
    world.note(Event::Begin { seed: options.seed, faults: true });
    dial_in(&mut world)?;
    world.platform(&PlatformOrder::Begin)?;
    world.street(&StreetOrder::Begin)?;
    world.jobs(&JobsOrder::Begin)?;
    world.letters(&LettersOrder::Begin)?;
    let memory = MemoryWatch::new(world.nodes.len(), options.lasts / SETTLES_IN);
    let mut soak = Soak { world, memory, dice: Dice::of(options.seed, 4), began: Instant::now() };
    let faults = soak.strike_until_over(options.lasts)?;
    soak.memory.tell();
    come_to_rest(&mut soak.world, PATIENCE)?;
    soak.world.end()?;
    Ok((faults, soak.memory))
}

fn design<'a>(options: &'a SoakOptions, folder: &Path) -> Design<'a> {
    let street_per_s = options.street_per_s;
    Design {
        seed: options.seed,
        desk: &options.desk,
        nodes: 3,
        redis: true,
        scale: Scale {
            agents: 100,
            authors: 16,
            floods: 2,
            rate_per_s: options.rate_per_s,
            looks_percent: 1,
            rooms: 5,
            jobs: 40,
            letters: 24,
            calls_per_second: None,
        },
        street: Some(Rates { discord: street_per_s, telegram: street_per_s }),
        manners: Manners::All,
        odd_targets: true,
        mutation: Mutation::Nothing,
        folder: folder.to_owned(),
    }
}

/// A running soak.
struct Soak {
    world: World,
    memory: MemoryWatch,
    dice: Dice,
    began: Instant,
}

impl Soak {
    /// Injects one fault after the other until the time is over. Returns their number.
    fn strike_until_over(&mut self, lasts: Duration) -> Result<usize> {
        let mut count = 0;
        let mut next = Instant::now() + self.dice.between_ms(EVERY_MS.0, EVERY_MS.1);
        while self.began.elapsed() < lasts {
            self.wait_until(next.min(self.began + lasts));
            if self.began.elapsed() >= lasts {
                break;
            }
            next = Instant::now() + self.dice.between_ms(EVERY_MS.0, EVERY_MS.1);
            let fault = self.pick(lasts);
            let minutes = self.began.elapsed().as_secs() / 60;
            ui::say(&format!("minute {minutes}: {fault:?}"));
            let struck = (fault.strike)(&mut self.world, fault.number, &mut self.dice);
            struck.with_context(|| format!("{fault:?}"))?;
            count += 1;
        }
        self.look();
        Ok(count)
    }

    /// Returns a random fault that is possible in this world.
    fn pick(&mut self, lasts: Duration) -> Fault {
        let is_last_part = self.began.elapsed() + lasts / LAST_PART >= lasts;
        let possible: Vec<Fault> = ALL
            .into_iter()
            .filter(|fault| (fault.possible)(&self.world))
            .filter(|fault| !is_last_part || ENDS_NO_NODE.contains(&fault.number))
            .collect();
        possible[self.dice.below(possible.len())]
    }

    fn wait_until(&mut self, until: Instant) {
        while Instant::now() < until {
            self.look();
            thread::sleep(LOOK_EVERY.min(until.saturating_duration_since(Instant::now())));
        }
    }

    fn look(&mut self) {
        let pids: Vec<Option<u32>> = self.world.nodes.iter().map(Node::pid).collect();
        self.memory.look(&pids, self.began.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faults_that_end_no_node_exist() {
        for number in ENDS_NO_NODE {
            assert!(ALL.iter().any(|fault| fault.number == number), "{number}");
        }
    }
}
