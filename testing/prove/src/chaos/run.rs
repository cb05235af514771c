//! Run: a world is set, faults strike while it is at work, it comes to rest, and is judged.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::{Event, Verdict, judge};

use super::faults::{Fault, Wanted};
use super::gateways::Order as GatewayOrder;
use super::in_flight;
use super::jobs::Order as JobsOrder;
use super::letters::Order as LettersOrder;
use super::manner::Manners;
use super::plan::Scale;
use super::platform::{Order as PlatformOrder, Sent};
use super::street::{Order as StreetOrder, Rates};
use super::world::{Alter, Design, Strike, World};
use crate::chance::Dice;
use crate::ui;

/// How long everything works before the first fault.
const WARM: Duration = Duration::from_secs(2);

/// How long everybody may take to dial in before anybody writes. Whoever is written to meanwhile is
/// called, and rightly: the desk has no line of theirs.
const DIALLED_WITHIN: Duration = Duration::from_secs(30);

/// Calm between two faults, in milliseconds.
const CALM_MS: (u64, u64) = (1_000, 2_500);

/// How much longer than asked for events are sent if too few were taken.
const LONGER_MAX: Duration = Duration::from_mins(3);

/// How often we look whether everything came to rest.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What a run is told.
#[derive(Debug)]
pub struct Options {
    /// Everything else follows from it.
    pub seed: u64,
    /// For how long events are sent, at least; until every fault has struck.
    pub lasts: Duration,
    /// How many events must be taken: until then sending goes on, if it does not take too long.
    pub events_min: u64,
    /// What happens meanwhile.
    pub wanted: Wanted,
    /// Whether faults are picked by chance until the time is over, and not one after the other.
    pub at_random: bool,
    /// How many nodes.
    pub nodes: usize,
    /// Whether a Redis rings between them.
    pub redis: bool,
    /// How big the world is.
    pub scale: Scale,
    /// How much people write on Discord and Telegram, if they do.
    pub street: Option<Rates>,
    /// How long it may take to come to rest.
    pub patience: Duration,
    /// The bug that is planted, if any.
    pub planted: Planted,
    /// The desk's binary.
    pub desk: PathBuf,
    /// Where the folder of the run is made.
    pub folder: PathBuf,
}

/// A bug that is planted for a run.
#[derive(Clone, Copy, Debug, Default)]
pub enum Planted {
    /// None.
    #[default]
    Nothing,
    /// In the desk, by its number.
    InDesk(&'static str),
    /// In the database, by doing this to it.
    InDatabase(Alter),
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Where its histories are.
    pub folder: PathBuf,
    /// Events the desk said "ok" to.
    pub events: u64,
    /// Of these, how many came from rooms that several tenants share.
    pub shared: u64,
    /// How many events were on their way when each fault struck.
    pub hits: Vec<(String, usize)>,
    /// What the judge says.
    pub verdict: Verdict,
    /// How long events were sent.
    pub lasted: Duration,
}

/// Runs.
pub fn run(options: &Options) -> Result<Outcome> {
    let folder = make_folder(&options.folder, options.seed)?;
    let told = played(options, &folder);
    let (sent, strikes, lasted) =
        told.with_context(|| format!("the histories so far are in {}", folder.display()))?;
    let hits = in_flight::hits(&folder, &strikes)?;
    ui::say("judging");
    let verdict = judge(&folder).with_context(|| format!("no verdict on {}", folder.display()))?;
    Ok(Outcome { folder, events: sent.told, shared: sent.shared, hits, verdict, lasted })
}

fn played(options: &Options, folder: &Path) -> Result<(Sent, Vec<Strike>, Duration)> {
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
    strike_all(&mut world, options, began)?;
    thread::sleep(options.lasts.saturating_sub(began.elapsed()));
    enough(&mut world, options.events_min)?;
    let lasted = began.elapsed();
    let sent = come_to_rest(&mut world, options.patience)?;
    Ok((sent, world.end()?, lasted))
}

/// Goes on until enough events were taken: a busy machine is slow, and no less right.
fn enough(world: &mut World, events_min: u64) -> Result<()> {
    let deadline = Instant::now() + LONGER_MAX;
    while told(world)? < events_min && Instant::now() < deadline {
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Events that were taken so far, wherever they came from.
fn told(world: &mut World) -> Result<u64> {
    let street = world.street(&StreetOrder::Count)?;
    Ok(world.platform(&PlatformOrder::Count)?.told + street.told)
}

fn design<'a>(options: &'a Options, folder: &Path) -> Design<'a> {
    let (environment, alter) = match options.planted {
        Planted::Nothing => (vec![], None),
        Planted::InDesk(number) => (vec![("NIGHTDESK_PLANTED", number.to_owned())], None),
        Planted::InDatabase(alter) => (vec![], Some(alter)),
    };
    Design {
        seed: options.seed,
        desk: &options.desk,
        nodes: options.nodes,
        redis: options.redis,
        scale: options.scale,
        street: options.street,
        manners: if options.wanted.odd_manners { Manners::All } else { Manners::Polite },
        odd_targets: options.wanted.odd_targets,
        environment,
        alter,
        folder: folder.to_owned(),
    }
}

/// Has everybody dial in, and waits until they have.
pub(crate) fn dial_in(world: &mut World) -> Result<()> {
    world.gateways(&GatewayOrder::Dial)?;
    let deadline = Instant::now() + DIALLED_WITHIN;
    while !world.all_had_lines()? && Instant::now() < deadline {
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Strikes with every fault, with some calm in between.
fn strike_all(world: &mut World, options: &Options, began: Instant) -> Result<()> {
    let mut dice = Dice::of(options.seed, 3);
    let possible = options.wanted.faults.iter().filter(|fault| {
        let possible = (fault.possible)(world);
        if !possible {
            ui::say(&format!("{fault:?}: not here"));
        }
        possible
    });
    let faults: Vec<Fault> = possible.copied().collect();
    if options.at_random {
        while began.elapsed() < options.lasts && !faults.is_empty() {
            strike(world, faults[dice.below(faults.len())], &mut dice)?;
        }
        return Ok(());
    }
    faults.into_iter().try_for_each(|fault| strike(world, fault, &mut dice))
}

fn strike(world: &mut World, fault: Fault, dice: &mut Dice) -> Result<()> {
    ui::say(&format!("{fault:?}"));
    (fault.strike)(world, fault.number, dice).with_context(|| format!("{fault:?}"))?;
    thread::sleep(dice.between_ms(CALM_MS.0, CALM_MS.1));
    Ok(())
}

/// Nothing new is sent; everybody behaves, and has time to finish. How much was sent in all.
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

/// Fails unless agents wrote to each other, asked each other and used their shelves.
pub fn mixed(verdict: &Verdict) -> Result<()> {
    let Verdict { letters, exchanges, shelved, .. } = verdict;
    ensure!(
        [letters, exchanges, shelved].into_iter().all(|count| *count > 0),
        "{letters} letters, {exchanges} exchanges and {shelved} writes to shelves prove too little"
    );
    Ok(())
}

/// A folder that is not there yet.
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
