//! Noisy: what others notice of a tenant whose people write fifty times as much as they may.
//!
//! All agents are behind one shared bot. Quiet and noisy stretches take turns in one run, so that a busy
//! machine is busy for both. Timed is the whole road: from an event's post to its ack.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_judge::monotonic_ns;
use nightdesk_prove::figures::{per_second, percentile_ms};
use nightdesk_prove::history::load_timed;
use nightdesk_prove::platform::{Order, Told, Whom};
use nightdesk_prove::setup::Size;
use nightdesk_prove::stage::Stage;
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work, Worker};

/// Tenants, and the agents of all of them.
const SIZE: (usize, usize) = (20, 400);

/// What an author may write to an agent in a minute: the desk's own limit.
const AUTHOR_PER_MINUTE: u32 = 30;

/// How much more than that the noisy tenant's authors write.
const TIMES: u32 = 50;

/// What all others write in a second: far below what they may.
const OTHERS_PER_SECOND: u32 = 60;

/// Connections that post, of either side.
const CONNECTIONS: u64 = 64;

/// The first event of the noise.
const NOISE_FROM: u64 = 1_000_000_000;

/// How much worse it may be for others: so many times as slow, and so much longer.
const SLOWER_MAX: f64 = 1.2;
const LONGER_MAX_MS: f64 = 20.0;

/// How long the machine rests between two stretches.
const REST: Duration = Duration::from_millis(500);

/// Measures what others notice of a noisy tenant.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// How long each stretch is.
    #[arg(long, default_value_t = 10)]
    seconds: u64,

    /// How often a quiet and a noisy stretch take turns.
    #[arg(long, default_value_t = 4)]
    turns: usize,

    /// How many authors of the noisy tenant write in a second, if not fifty times what they may.
    #[arg(long)]
    noise: Option<u32>,

    /// Lets authors write as much as they want: others must notice, or nothing was measured.
    #[arg(long)]
    unlimited: bool,

    /// The desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("noisy", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let (tenants, agents) = SIZE;
    let (size, limit) = (Size::of(tenants, agents), AUTHOR_PER_MINUTE);
    let limit = (!arguments.unlimited).then_some(limit);
    let mut stage = Stage::set_limited(&arguments.desk, &size, CONNECTIONS, limit)?;
    let mut noise = stage.another_platform(&[stage.desk.address()], CONNECTIONS, NOISE_FROM)?;
    stage.dial()?;
    let stretches = take_turns(arguments, &mut stage, &mut noise)?;
    stage.post(&Order::Stop)?;
    stage.settled()?;
    let (told, acked) = stage.history_files()?;
    let seen = Seen::of(&told, &acked, &stretches)?;
    tell(seen, &stretches)
}

/// Who made noise when.
#[derive(Debug, Default)]
struct Stretches {
    /// From and to, by the clock that all share.
    quiet: Vec<(u64, u64)>,
    noisy: Vec<(u64, u64)>,
    /// How much noise there was, and for how long.
    noise: u64,
    lasted: Duration,
    wanted: u32,
}

fn take_turns(arguments: &Arguments, stage: &mut Stage, noise: &mut Worker) -> Result<Stretches> {
    let own = u32::try_from(SIZE.1 / SIZE.0)?;
    let per_second = arguments.noise.unwrap_or(own * AUTHOR_PER_MINUTE * TIMES / 60);
    let mut stretches = Stretches { wanted: per_second, ..Stretches::default() };
    stage.post(&Order::Begin { whom: Whom::Others, per_second: OTHERS_PER_SECOND })?;
    // The first warms up.
    stretch(arguments.seconds);
    for turn in 1..=arguments.turns {
        ui::say(&format!("turn {turn}"));
        stretches.quiet.push(stretch(arguments.seconds));
        let began = Instant::now();
        let _: Told = noise.ask(&Order::Begin { whom: Whom::FirstTenant, per_second })?;
        stretches.noisy.push(stretch(arguments.seconds));
        let told: Told = noise.ask(&Order::Stop)?;
        stretches.lasted += began.elapsed();
        stretches.noise = told.told;
        thread::sleep(REST);
    }
    Ok(stretches)
}

fn stretch(seconds: u64) -> (u64, u64) {
    let from = monotonic_ns();
    thread::sleep(Duration::from_secs(seconds));
    (from, monotonic_ns())
}

/// What others noticed.
#[derive(Debug, Default)]
struct Seen {
    quiet: Vec<Duration>,
    noisy: Vec<Duration>,
    lost: usize,
    /// How much of the noise came through.
    let_in: usize,
}

impl Seen {
    fn of(told: &Path, acked: &Path, stretches: &Stretches) -> Result<Self> {
        let acked: HashMap<u64, u64> =
            load_timed(acked)?.into_iter().map(|(seen, at)| (seen.event, at)).collect();
        let let_in = acked.keys().filter(|event| **event >= NOISE_FROM).count();
        let mut seen = Self { let_in, ..Self::default() };
        for (posted, at) in load_timed(told)? {
            let Some(acked) = acked.get(&posted.event) else {
                seen.lost += 1;
                continue;
            };
            let took = Duration::from_nanos(acked.saturating_sub(at));
            let is_within = |(from, to): &(u64, u64)| (*from..*to).contains(&at);
            if stretches.quiet.iter().any(is_within) {
                seen.quiet.push(took);
            } else if stretches.noisy.iter().any(is_within) {
                seen.noisy.push(took);
            }
        }
        Ok(seen)
    }
}

fn tell(mut seen: Seen, stretches: &Stretches) -> Result<()> {
    let Stretches { noise: told, lasted, wanted, .. } = stretches;
    let (timed, lost) = (seen.quiet.len().min(seen.noisy.len()), seen.lost);
    let posted = per_second(*told, *lasted);
    let let_in = per_second(u64::try_from(seen.let_in)?, *lasted);
    ui::put(&format!(
        "noise: wanted_per_s={wanted} posted_per_s={posted:.0} let_in_per_s={let_in:.1}"
    ));
    let [quiet, noisy] = [&mut seen.quiet, &mut seen.noisy].map(|times| percentile_ms(times, 99));
    let bound = SLOWER_MAX.mul_add(quiet, LONGER_MAX_MS);
    ui::put(&format!(
        "noisy: others_p99_quiet_ms={quiet:.1} others_p99_noisy_ms={noisy:.1} bound_ms={bound:.1} \
         timed={timed} lost={lost}"
    ));
    ensure!(lost == 0, "{lost} events of others were lost");
    ensure!(posted > 0.8 * f64::from(*wanted), "{posted:.0} events in a second are not that noise");
    ensure!(noisy <= bound, "others noticed it: {noisy:.1} ms instead of {quiet:.1}");
    Ok(())
}
