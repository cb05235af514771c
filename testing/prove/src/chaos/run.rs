//! Starts a world, injects faults while it works, waits until it is idle, and judges it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::{Event, Verdict, judge};

use super::faults::{self, Fault, Pace, Wanted};
use super::gateways::Order as GatewayOrder;
use super::in_flight;
use super::jobs::Order as JobsOrder;
use super::letters::Order as LettersOrder;
use super::manner::Manners;
use super::mutation::Mutation;
use super::plan::Scale;
use super::platform::{Order as PlatformOrder, Sent};
use super::street::{Order as StreetOrder, Rates};
use super::world::{Design, Strike, World};
use crate::chance::Dice;
use crate::ui;

/// Time of normal operation before the first fault.
const WARM: Duration = Duration::from_secs(2);

/// Time limit for all agents to dial in before the first message. The desk would call an agent that has a message and
/// no line, and rightly so.
const DIALLED_WITHIN: Duration = Duration::from_secs(30);

/// Range of the pause between two faults, in milliseconds.
const CALM_MS: (u64, u64) = (500, 1_500);

/// Maximum number of nodes that die at crash points at the same time. One node lives all the time.
const DEATHS_MAX: usize = 2;

/// Maximum additional time for sending if too few events were accepted.
const LONGER_MAX: Duration = Duration::from_mins(3);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Options of a run.
#[derive(Debug)]
pub struct Options {
    /// Seed from which the whole run follows.
    pub seed: u64,
    /// Minimum time for which events are sent. Sending also continues until every fault has struck.
    pub lasts: Duration,
    /// Minimum number of accepted events: sending continues until then, within a limit.
    pub events_min: u64,
    /// Faults of the run.
    pub wanted: Wanted,
    /// True if the faults come in random order, and then at random until the time is over.
    pub at_random: bool,
    /// Number of nodes.
    pub nodes: usize,
    /// True if a Redis is the bell between them.
    pub redis: bool,
    /// Size of the world.
    pub scale: Scale,
    /// Load on Discord and Telegram, if there is any.
    pub street: Option<Rates>,
    /// Time limit for the world to become idle.
    pub patience: Duration,
    /// The planted bug, if there is one.
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
    /// Events that the desk acknowledged.
    pub events: u64,
    /// Acknowledged events from rooms that several tenants share.
    pub shared: u64,
    /// Number of events in flight when each fault struck.
    pub hits: Vec<(String, usize)>,
    /// Faults that were wanted and are not possible on this machine or in this world.
    pub impossible: Vec<&'static str>,
    /// Number of agents by the transport of their lines.
    pub transports: BTreeMap<&'static str, u64>,
    /// The judge's verdict.
    pub verdict: Verdict,
    /// Time for which events were sent.
    pub lasted: Duration,
}

/// Runs a world, and judges it.
pub fn run(options: &Options) -> Result<Outcome> {
    let folder = make_folder(&options.folder, options.seed)?;
    let told = played(options, &folder);
    let Played { sent, strikes, impossible, transports, lasted } =
        told.with_context(|| format!("the histories so far are in {}", folder.display()))?;
    let hits = in_flight::hits(&folder, &strikes)?;
    ui::say("judging");
    let verdict = judge(&folder).with_context(|| format!("no verdict on {}", folder.display()))?;
    let (events, shared) = (sent.told, sent.shared);
    Ok(Outcome { folder, events, shared, hits, impossible, transports, verdict, lasted })
}

/// A run that is not judged yet.
struct Played {
    sent: Sent,
    strikes: Vec<Strike>,
    impossible: Vec<&'static str>,
    transports: BTreeMap<&'static str, u64>,
    lasted: Duration,
}

fn played(options: &Options, folder: &Path) -> Result<Played> {
    let mut world = World::set(&design(options, folder))?;
    let faults = !options.wanted.is_none();
    world.note(Event::Begin { seed: options.seed, faults });
    dial_in(&mut world)?;
    world.platform(&PlatformOrder::Begin)?;
    world.street(&StreetOrder::Begin)?;
    world.jobs(&JobsOrder::Begin)?;
    world.letters(&LettersOrder::Begin)?;
    let began = Instant::now();
    thread::sleep(WARM);
    let impossible = strike_all(&mut world, options, began)?;
    thread::sleep(options.lasts.saturating_sub(began.elapsed()));
    enough(&mut world, options.events_min)?;
    let lasted = began.elapsed();
    let sent = come_to_rest(&mut world, options.patience)?;
    let transports = world.transports()?;
    Ok(Played { sent, strikes: world.end()?, impossible, transports, lasted })
}

/// Continues until enough events were accepted: a busy machine is slow, but not wrong.
fn enough(world: &mut World, events_min: u64) -> Result<()> {
    let deadline = Instant::now() + LONGER_MAX;
    while told(world)? < events_min && Instant::now() < deadline {
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Returns the number of accepted events so far, from all platforms.
fn told(world: &mut World) -> Result<u64> {
    let street = world.street(&StreetOrder::Count)?;
    Ok(world.platform(&PlatformOrder::Count)?.told + street.told)
}

fn design<'a>(options: &'a Options, folder: &Path) -> Design<'a> {
    Design {
        seed: options.seed,
        desk: &options.desk,
        nodes: options.nodes,
        redis: options.redis,
        scale: options.scale,
        street: options.street,
        manners: if options.wanted.odd_manners { Manners::All } else { Manners::Polite },
        odd_targets: options.wanted.odd_targets,
        mutation: options.mutation,
        folder: folder.to_owned(),
    }
}

/// Makes all gateways dial in, and waits until they have.
pub(crate) fn dial_in(world: &mut World) -> Result<()> {
    world.gateways(&GatewayOrder::Dial)?;
    let deadline = Instant::now() + DIALLED_WITHIN;
    while !world.all_had_lines()? && Instant::now() < deadline {
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Injects every fault, with a pause in between. Returns those that are not possible.
fn strike_all(world: &mut World, options: &Options, began: Instant) -> Result<Vec<&'static str>> {
    let mut dice = Dice::of(options.seed, 3);
    let is_possible = |fault: &Fault| (fault.possible)(world);
    let (mut possible, impossible): (Vec<Fault>, Vec<Fault>) =
        options.wanted.faults.iter().copied().partition(is_possible);
    for fault in &impossible {
        ui::say(&format!("{fault:?}: not possible here"));
    }
    if options.at_random {
        dice.shuffle(&mut possible);
    }
    for faults in together(&possible, world.nodes.len()) {
        strike(world, faults, &mut dice)?;
    }
    while options.at_random && began.elapsed() < options.lasts && !possible.is_empty() {
        let one = possible[dice.below(possible.len())];
        strike(world, &[one], &mut dice)?;
    }
    Ok(impossible.iter().map(|fault| fault.number).collect())
}

/// Divides faults into those that strike at the same time: crash points that follow each other, in different nodes.
fn together(faults: &[Fault], nodes: usize) -> Vec<&[Fault]> {
    let deaths_max = DEATHS_MAX.min(nodes.saturating_sub(1)).max(1);
    let are_crash_points = |one: &Fault, next: &Fault| {
        [one, next].into_iter().all(|fault| fault.pace == Pace::CrashPoint)
    };
    faults.chunk_by(are_crash_points).flat_map(|group| group.chunks(deaths_max)).collect()
}

fn strike(world: &mut World, faults: &[Fault], dice: &mut Dice) -> Result<()> {
    let began = Instant::now();
    let names: Vec<String> = faults.iter().map(|fault| format!("{fault:?}")).collect();
    ui::say(&names.join("; "));
    world.recover()?;
    let struck = match faults {
        [fault] => (fault.strike)(world, fault.number, dice),
        several => faults::strike_at_once(world, several, dice),
    };
    struck.with_context(|| names.join("; "))?;
    ui::say(&format!("  over after {:.1?}", began.elapsed()));
    thread::sleep(dice.between_ms(CALM_MS.0, CALM_MS.1));
    Ok(())
}

/// Stops sending, makes all gateways behave, and waits until the world is idle. Returns the total counts.
pub(crate) fn come_to_rest(world: &mut World, patience: Duration) -> Result<Sent> {
    ui::say("coming to rest");
    let deadline = Instant::now() + patience;
    let mut sent = world.platform(&PlatformOrder::Stop)?;
    let street = world.street(&StreetOrder::Stop)?;
    ensure!(
        street.told == street.said,
        "{} of {} were confirmed on the street",
        street.told,
        street.said
    );
    sent.told += street.told;
    world.jobs(&JobsOrder::Stop)?;
    world.letters(&LettersOrder::Stop)?;
    let mut standing = world.gateways(&GatewayOrder::Settle)?;
    while world.is_storing_again()? && Instant::now() < deadline {
        thread::sleep(LOOK_EVERY);
    }
    let (mut pending, mut untold) = (world.pending()?, world.untold()?);
    while (pending > 0 || standing.asking > 0 || untold > 0) && Instant::now() < deadline {
        thread::sleep(LOOK_EVERY);
        (pending, untold) = (world.pending()?, world.untold()?);
        standing = world.gateways(&GatewayOrder::Count)?;
    }
    let asking = standing.asking;
    ui::say(&format!("{pending} entries and {untold} fires wait, {asking} sends are under way"));
    Ok(sent)
}

/// Fails unless agents wrote letters, asked each other and used their shelves.
pub fn mixed(verdict: &Verdict) -> Result<()> {
    let Verdict { letters, exchanges, shelved, .. } = verdict;
    ensure!(
        [letters, exchanges, shelved].into_iter().all(|count| *count > 0),
        "{letters} letters, {exchanges} exchanges and {shelved} writes to shelves prove too little"
    );
    Ok(())
}

/// Creates a new folder.
pub(crate) fn make_folder(base: &Path, seed: u64) -> Result<PathBuf> {
    fs::create_dir_all(base).with_context(|| format!("could not make {}", base.display()))?;
    let base = base.canonicalize().context("could not resolve the folder of the run")?;
    for number in 1.. {
        let folder = base.join(format!("seed-{seed}.{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).context("could not make a folder for the run"),
        }
    }
    unreachable!("there are always more numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crash_points_strike_in_pairs_if_a_node_lives_on() {
        let wanted = Wanted::read("K1,K2,K3,F02,K4").unwrap();
        let sizes = |nodes| -> Vec<usize> {
            together(&wanted.faults, nodes).into_iter().map(<[Fault]>::len).collect()
        };

        assert_eq!(sizes(3), [2, 1, 1, 1]);
        assert_eq!(sizes(2), [1, 1, 1, 1, 1]);
        assert_eq!(sizes(1), [1, 1, 1, 1, 1]);
    }
}
