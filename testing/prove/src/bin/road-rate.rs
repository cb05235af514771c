//! Measures the rate of events over the whole road, compared with bare PostgreSQL doing the same writes.
//!
//! An event counts when its gateway has received its frame and sent the ack. Both sides run in turns on the same
//! cluster, so that a busy machine affects both.
//!
//! With several nodes, the platform posts to all of them and the lines are on all of them, so most entries are accepted
//! on one node and handed over on another.

use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_prove::bare::{AGENTS_MIN, Bare, Done};
use nightdesk_prove::cluster::Cluster;
use nightdesk_prove::figures::{micros_each, ratio, share};
use nightdesk_prove::phase::{Phase, Used};
use nightdesk_prove::platform::Order;
use nightdesk_prove::rate::{Measures, REST, phase, tell_conditions, tell_functions, transactions};
use nightdesk_prove::stage::{DATABASE, Stage, seeded};
use nightdesk_prove::worker::{self, Work};
use nightdesk_prove::{procfs, ui};

/// The database for bare PostgreSQL.
const BARE: &str = "bare";

/// Measures the rate of events over the whole road.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    #[command(flatten)]
    measures: Measures,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("road-rate", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let measures = &arguments.measures;
    ensure!(measures.agents >= AGENTS_MIN, "give at least {AGENTS_MIN} agents");
    let mut stage = measures.stage()?;
    let (_, cast) = seeded(&measures.desk, &stage.cluster, BARE, &measures.size())?;
    stage.dial()?;
    ui::say("warming up");
    let order = Order::Run(measures.phase_ms());
    phase(&mut stage, &order)?;
    let body_bytes = body_bytes(&stage.cluster)?;
    let bare = Bare::prepare(&stage.cluster, BARE, &cast, body_bytes)?;
    let warm = bare_phase(&stage.cluster, &bare, measures.seconds)?;

    let (mut desk_side, mut bare_side) = (Phase::default(), Phase::default());
    for turn in 1..=measures.turns {
        let desk = phase(&mut stage, &order)?;
        let bare = bare_phase(&stage.cluster, &bare, measures.seconds)?;
        ui::say(&format!("turn {turn}: desk {:.0}/s, bare {:.0}/s", desk.rate(), bare.rate()));
        desk_side.add(&desk);
        bare_side.add(&bare);
    }

    bare.check(&stage.cluster, warm.events + bare_side.events)?;
    stage.check_history()?;
    tell_conditions(&stage.cluster)?;
    ui::put(&format!("body_bytes: {body_bytes}"));
    tell_gathering(&mut stage)?;
    tell_beside(&desk_side, &bare_side);
    tell_rates(&desk_side, &bare_side, measures.nodes);
    Ok(())
}

fn bare_phase(cluster: &Cluster, bare: &Bare, seconds: u64) -> Result<Phase> {
    let before = procfs::cpu_with_children(cluster.pid())?;
    let Done { events, elapsed } = bare.run(cluster, seconds)?;
    let pg = procfs::cpu_with_children(cluster.pid())?.saturating_sub(before);
    thread::sleep(REST);
    Ok(Phase { events, crossed: 0, elapsed, used: Used { pg, ..Used::default() } })
}

/// Returns the average length of the desk's entries, so that bare PostgreSQL writes as much.
fn body_bytes(cluster: &Cluster) -> Result<usize> {
    let bytes = "select round(avg(octet_length(body))) from inbox_entries";
    let bytes = cluster.ask(DATABASE, bytes)?;
    bytes.trim().parse().context("the desk has stored nothing")
}

/// Prints how many events went into a statement, over the whole life of the desk.
fn tell_gathering(stage: &mut Stage) -> Result<()> {
    let acked = stage.standing()?.acked;
    tell_functions(&stage.cluster, &["inbox_accept", "inbox_ack", "inbox_waiting"], acked)?;
    let each = share(transactions(&stage.cluster)?, acked);
    ui::put(&format!("transactions_per_event: {each:.2}"));
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
