//! Road rate: how fast events go the whole road, beside bare PostgreSQL doing the same writes.
//!
//! An event counts when the gateway it is for has received its frame and sent the ack. Both
//! sides run in turns on the same cluster, so that a busy machine is busy for both.
//!
//! With several nodes the platform posts to all of them and the lines are on all of them, so that
//! most entries are accepted on one node and handed over on another.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_prove::bare::{AGENTS_MIN, Bare, Done};
use nightdesk_prove::cluster::Cluster;
use nightdesk_prove::figures::{micros_each, ratio, share};
use nightdesk_prove::phase::{Phase, Used};
use nightdesk_prove::platform::Order;
use nightdesk_prove::setup::Size;
use nightdesk_prove::stage::{DATABASE, Stage, seeded};
use nightdesk_prove::worker::{self, Work};
use nightdesk_prove::{procfs, ui};

/// The database for bare PostgreSQL.
const BARE: &str = "bare";

/// How long the machine rests between two phases, so that one does not pay for the other.
const REST: Duration = Duration::from_millis(500);

/// Measures how fast events go the whole road.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// How many agents are behind the shared bot.
    #[arg(long, default_value_t = 1_000)]
    agents: usize,

    /// How many nodes the desk has.
    #[arg(long, default_value_t = 3)]
    nodes: usize,

    /// Lets a Redis ring also if there is one node; between several it always does.
    #[arg(long)]
    redis: bool,

    /// To how many tenants they belong.
    #[arg(long, default_value_t = 20)]
    tenants: usize,

    /// How many connections the platform posts over, one event at a time each.
    #[arg(long, default_value_t = 128)]
    connections: u64,

    /// How long each phase is. Short ones share a busy machine's moods more evenly.
    #[arg(long, default_value_t = 4)]
    seconds: u64,

    /// How often desk and bare PostgreSQL take turns.
    #[arg(long, default_value_t = 6)]
    turns: usize,

    /// The desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("road-rate", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.agents >= AGENTS_MIN, "give at least {AGENTS_MIN} agents");
    let size = Size::of(arguments.tenants, arguments.agents);
    let mut stage = stage(arguments, &size)?;
    let (_, cast) = seeded(&arguments.desk, &stage.cluster, BARE, &size)?;
    stage.dial()?;
    ui::say("warming up");
    desk_phase(&mut stage, arguments.seconds)?;
    let body_bytes = body_bytes(&stage.cluster)?;
    let bare = Bare::prepare(&stage.cluster, BARE, &cast, body_bytes)?;
    let warm = bare_phase(&stage.cluster, &bare, arguments.seconds)?;

    let (mut desk_side, mut bare_side) = (Phase::default(), Phase::default());
    for turn in 1..=arguments.turns {
        let desk = desk_phase(&mut stage, arguments.seconds)?;
        let bare = bare_phase(&stage.cluster, &bare, arguments.seconds)?;
        ui::say(&format!("turn {turn}: desk {:.0}/s, bare {:.0}/s", desk.rate(), bare.rate()));
        desk_side.add(&desk);
        bare_side.add(&bare);
    }

    bare.check(&stage.cluster, warm.events + bare_side.events)?;
    stage.check_history()?;
    tell_conditions(&stage.cluster, body_bytes)?;
    tell_gathering(&mut stage)?;
    tell_beside(&desk_side, &bare_side);
    tell_rates(&desk_side, &bare_side, arguments.nodes);
    Ok(())
}

fn stage(arguments: &Arguments, size: &Size) -> Result<Stage> {
    let Arguments { desk, nodes, connections, redis, .. } = arguments;
    if *redis || *nodes > 1 {
        Stage::set_ringing(desk, *nodes, size, *connections)
    } else {
        Stage::set(desk, size, *connections)
    }
}

/// Events go the whole road. What is still on its way when the time is over does not count.
fn desk_phase(stage: &mut Stage, seconds: u64) -> Result<Phase> {
    let (before, stood) = (Used::so_far(stage)?, stage.standing()?);
    let began = Instant::now();
    let told = stage.post(&Order::Run(seconds * 1_000))?;
    let standing = stage.standing()?;
    let (events, crossed) = (standing.acked - stood.acked, standing.crossed - stood.crossed);
    let (elapsed, used) = (began.elapsed(), Used::so_far(stage)?.since(before));
    stage.arrived(told)?;
    thread::sleep(REST);
    Ok(Phase { events, crossed, elapsed, used })
}

fn bare_phase(cluster: &Cluster, bare: &Bare, seconds: u64) -> Result<Phase> {
    let before = procfs::cpu_with_children(cluster.pid())?;
    let Done { events, elapsed } = bare.run(cluster, seconds)?;
    let pg = procfs::cpu_with_children(cluster.pid())?.saturating_sub(before);
    thread::sleep(REST);
    Ok(Phase { events, crossed: 0, elapsed, used: Used { pg, ..Used::default() } })
}

/// How long an entry of the desk's is, so that bare PostgreSQL writes as much.
fn body_bytes(cluster: &Cluster) -> Result<usize> {
    let bytes = "select round(avg(octet_length(body))) from inbox_entries";
    let bytes = cluster.ask(DATABASE, bytes)?;
    bytes.trim().parse().context("the desk has stored nothing")
}

fn tell_conditions(cluster: &Cluster, body_bytes: usize) -> Result<()> {
    let fsync = cluster.ask(DATABASE, "show fsync")?;
    ensure!(fsync.trim() == "on", "fsync is {}", fsync.trim());
    ui::put(&format!("fsync: {}", fsync.trim()));
    ui::put(&format!("row-level security: {}", cluster.check_wall(DATABASE)?));
    ui::put(&format!("body_bytes: {body_bytes}"));
    Ok(())
}

/// How many events went into a statement, over the whole life of the desk.
fn tell_gathering(stage: &mut Stage) -> Result<()> {
    let acked = stage.standing()?.acked;
    for function in ["inbox_accept", "inbox_ack", "inbox_waiting"] {
        let called = format!(
            "select calls, round({acked}.0 / calls, 1), round((total_time / calls)::numeric, 2)
             from pg_stat_user_functions where funcname = '{function}'"
        );
        let called = stage.cluster.ask(DATABASE, &called)?;
        let mut called = called.trim().split('|');
        let mut next = || called.next().unwrap_or_default().to_owned();
        let (calls, events, millis) = (next(), next(), next());
        ui::put(&format!("{function}: calls={calls} events_each={events} ms_each={millis}"));
    }
    let commits = format!(
        "select round(xact_commit / {acked}.0, 2) from pg_stat_database
         where datname = current_database()"
    );
    let commits = stage.cluster.ask(DATABASE, &commits)?;
    ui::put(&format!("transactions_per_event: {}", commits.trim()));
    Ok(())
}

fn tell_beside(desk: &Phase, bare: &Phase) {
    ui::put(&format!(
        "beside: gateways_cpu_us={:.1} platform_cpu_us={:.1} redis_cpu_us={:.1} bare_pg_cpu_us={:.1}",
        micros_each(desk.used.gateways, desk.events),
        micros_each(desk.used.platform, desk.events),
        micros_each(desk.used.redis, desk.events),
        micros_each(bare.used.pg, bare.events)
    ));
}

fn tell_rates(desk: &Phase, bare: &Phase, nodes: usize) {
    ui::put(&format!(
        "road-rate: desk_per_s={:.0} bare_per_s={:.0} ratio={:.2} desk_cpu_us={:.1} pg_cpu_us={:.1} \
         nodes={nodes} crossed={:.2}",
        desk.rate(),
        bare.rate(),
        ratio(desk.rate(), bare.rate()),
        micros_each(desk.used.desk, desk.events),
        micros_each(desk.used.pg, desk.events),
        share(desk.crossed, desk.events)
    ));
}
