//! Measures the effect on other tenants when one tenant's authors write at fifty times their rate limit.
//!
//! All agents share one bot. Quiet and noisy periods alternate in one run, so that a busy machine affects both. The
//! time covers the whole road, from an event's post to its ack.

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

/// Numbers of tenants, and of agents in total.
const SIZE: (usize, usize) = (20, 400);

/// Messages per minute that an author may write to an agent: the desk's own limit.
const AUTHOR_PER_MINUTE: u32 = 30;

/// Factor by which the noisy tenant's authors exceed the limit.
const TIMES: u32 = 50;

/// Events per second of all other authors, far below their limit.
const OTHERS_PER_SECOND: u32 = 60;

/// Connections that post, for each side.
const CONNECTIONS: u64 = 64;

/// Number of the first noise event.
const NOISE_FROM: u64 = 1_000_000_000;

/// Maximum slowdown for other tenants: a factor, and an absolute time.
const SLOWER_MAX: f64 = 1.2;
const LONGER_MAX_MS: f64 = 20.0;

/// Pause between two periods.
const REST: Duration = Duration::from_millis(500);

/// Measures the effect of a noisy tenant on other tenants.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Seconds of each period.
    #[arg(long, default_value_t = 10)]
    seconds: u64,

    /// Number of turns of a quiet and a noisy period.
    #[arg(long, default_value_t = 4)]
    turns: usize,

    /// Events per second of the noisy tenant, if not fifty times the limit.
    #[arg(long)]
    noise: Option<u32>,

    /// Disables the authors' rate limit: other tenants must be slower, or the measurement is void.
    #[arg(long)]
    unlimited: bool,

    /// Path of the desk's binary, built with the feature `scripted`.
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

/// Times of the quiet and the noisy periods.
#[derive(Debug, Default)]
struct Stretches {
    /// Start and end, by the clock that all processes share.
    quiet: Vec<(u64, u64)>,
    noisy: Vec<(u64, u64)>,
    /// Number of noise events, and their duration.
    noise: u64,
    lasted: Duration,
    wanted: u32,
}

fn take_turns(arguments: &Arguments, stage: &mut Stage, noise: &mut Worker) -> Result<Stretches> {
    let own = u32::try_from(SIZE.1 / SIZE.0)?;
    let per_second = arguments.noise.unwrap_or(own * AUTHOR_PER_MINUTE * TIMES / 60);
    let mut stretches = Stretches { wanted: per_second, ..Stretches::default() };
    stage.post(&Order::Begin { whom: Whom::Others, per_second: OTHERS_PER_SECOND })?;
    // The first period is a warm-up.
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

/// Measurements of the other tenants' events.
#[derive(Debug, Default)]
struct Seen {
    quiet: Vec<Duration>,
    noisy: Vec<Duration>,
    lost: usize,
    /// Number of noise events that were let in.
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
