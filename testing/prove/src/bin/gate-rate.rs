//! Measures how fast the gate decides and what a refusal costs, and proves that no stale state admits an event while
//! bindings and grants change ten times a second.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_prove::chaos::mutants;
use nightdesk_prove::cluster::Cluster;
use nightdesk_prove::desk::Settings;
use nightdesk_prove::figures::{per_second, share};
use nightdesk_prove::gate_rate::changes::{Changes, HOT};
use nightdesk_prove::gate_rate::deciding::{Decided, decide};
use nightdesk_prove::gate_rate::nodes::{Nodes, Writing, round_trips, stale_admits};
use nightdesk_prove::setup::{Cast, Size};
use nightdesk_prove::stage::{DATABASE, seeded};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Numbers of agents, tenants, and agents with a chat that is open to all authors.
const SIZE: (usize, usize, usize) = (1_000, 20, 300);

/// Minimum rate of decisions per second of one core. A gate below it does not decide from memory.
const DECISIONS_PER_SECOND_MIN: f64 = 10_000.0;

/// Nodes poll the store also without refusals: the number of polls must be below one per this many refusals.
const REFUSALS_PER_TRIP_MIN: u64 = 5;

/// PostgreSQL records commit times and counts statements.
const SETTINGS: [(&str, &str); 2] =
    [("track_commit_timestamp", "on"), ("shared_preload_libraries", "pg_stat_statements")];

const _: () = assert!(HOT <= SIZE.2, "where a grant comes and goes there was one");

/// Measures the gate.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Seconds for which a gate decides alone.
    #[arg(long, default_value_t = 8)]
    deciding_seconds: u64,

    /// Seconds for which events are posted to nodes while bindings and grants change.
    #[arg(long, default_value_t = 20)]
    seconds: u64,

    /// Seconds for which only unknown authors post.
    #[arg(long, default_value_t = 6)]
    strange_seconds: u64,

    /// Number of the bug to plant, which the proof must detect. It needs the mutated build.
    #[arg(long)]
    mutant: Option<String>,

    /// Path of the desk's binary, built with the features `scripted` and `failpoints`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("gate-rate", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let (agents, tenants, guests) = SIZE;
    let cluster = Cluster::start_with(&SETTINGS)?;
    let size = Size { guests, ..Size::of(tenants, agents) };
    let (settings, cast) = seeded(&arguments.desk, &cluster, DATABASE, &size)?;
    Changes::prepare(&cluster)?;

    let changes = Changes::begin(&cluster, &cast);
    ui::say("deciding");
    let decided = decide(&cluster, &cast, guests, Duration::from_secs(arguments.deciding_seconds))?;
    let nodes_told = post(arguments, &cluster, (&settings, &cast))?;
    let made = changes.end()?;

    let (stale, entries) = stale_admits(&cluster)?;
    let Decided { decisions, refusals, trips, cpu } = decided;
    ui::put(&format!("deciding: decisions={decisions} refusals={refusals} trips={trips}"));
    ui::put(&format!("nodes: events={nodes_told} entries={entries} changes={made}"));
    let rate = per_second(decisions, cpu);
    let each = share(trips, refusals);
    ui::put(&format!(
        "gate-rate: decisions_per_s_core={rate:.0} round_trips_per_refusal={each} \
         stale_admits={stale}"
    ));
    ensure!(refusals > 0 && 0 < entries && entries < nodes_told, "not everything was decided on");
    ensure!(stale == 0, "{stale} entries were let in by what was gone");
    ensure!(trips == 0, "{trips} of {refusals} refusals took a look at the store");
    ensure!(rate > DECISIONS_PER_SECOND_MIN, "{rate:.0} decisions in a second of a core");
    Ok(())
}

/// Posts to real nodes. Returns the number of events that got a 200 while bindings and grants changed.
fn post(
    arguments: &Arguments,
    cluster: &Cluster,
    (settings, cast): (&Settings, &Cast),
) -> Result<u64> {
    ui::say("posting to nodes");
    let mutation = mutants::mutation(arguments.mutant.as_deref())?;
    mutation.alter(cluster)?;
    let nodes = Nodes::start(settings, cluster.folder(), mutation)?;
    let told = nodes.post(cast, Writing::Hot, Duration::from_secs(arguments.seconds))?;
    let before = round_trips(cluster)?;
    let strange = Duration::from_secs(arguments.strange_seconds);
    let refused = nodes.post(cast, Writing::Strange, strange)?;
    let trips = round_trips(cluster)? - before;
    ui::put(&format!("strangers: refused={refused} trips_of_the_nodes={trips}"));
    ensure!(
        trips * REFUSALS_PER_TRIP_MIN < refused,
        "with {refused} refusals nodes asked the store {trips} times"
    );
    Ok(told)
}
