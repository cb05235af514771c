//! Rate: what proofs of a rate have in common: a stage of some size, and phases on it that take turns.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::cluster::Cluster;
use crate::phase::{Phase, Used};
use crate::platform::Order;
use crate::setup::Size;
use crate::stage::{DATABASE, Stage};
use crate::ui;

/// How long the machine rests between two phases, so that one does not pay for the other.
pub const REST: Duration = Duration::from_millis(500);

/// How big the stage is, and how long it is played on.
#[derive(Debug, clap::Args)]
pub struct Measures {
    /// How many agents are behind the shared bot.
    #[arg(long, default_value_t = 1_000)]
    pub agents: usize,

    /// How many nodes the desk has.
    #[arg(long, default_value_t = 3)]
    pub nodes: usize,

    /// Lets a Redis ring also if there is one node; between several it always does.
    #[arg(long)]
    pub redis: bool,

    /// To how many tenants they belong.
    #[arg(long, default_value_t = 20)]
    pub tenants: usize,

    /// How many connections the platform posts over, one event at a time each.
    #[arg(long, default_value_t = 128)]
    pub connections: u64,

    /// How long each phase is. Short ones share a busy machine's moods more evenly.
    #[arg(long, default_value_t = 4)]
    pub seconds: u64,

    /// How often the two sides take turns.
    #[arg(long, default_value_t = 6)]
    pub turns: usize,

    /// The desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    pub desk: PathBuf,
}

impl Measures {
    /// How many of everybody there are.
    pub const fn size(&self) -> Size {
        Size::of(self.tenants, self.agents)
    }

    /// The stage. Nobody dials yet.
    pub fn stage(&self) -> Result<Stage> {
        let (desk, size) = (&*self.desk, self.size());
        if self.redis || self.nodes > 1 {
            Stage::set_ringing(desk, self.nodes, &size, self.connections)
        } else {
            Stage::set(desk, &size, self.connections)
        }
    }

    /// How long a phase is, as the platform is told.
    pub const fn phase_ms(&self) -> u64 {
        self.seconds * 1_000
    }
}

/// Something goes the whole road, as ordered. What is still on its way when the time is over does not count.
pub fn phase(stage: &mut Stage, order: &Order) -> Result<Phase> {
    let (before, stood) = (Used::so_far(stage)?, stage.standing()?);
    let began = Instant::now();
    let told = stage.post(order)?;
    let standing = stage.standing()?;
    let (events, crossed) = (standing.acked - stood.acked, standing.crossed - stood.crossed);
    let (elapsed, used) = (began.elapsed(), Used::so_far(stage)?.since(before));
    stage.arrived(told)?;
    thread::sleep(REST);
    Ok(Phase { events, crossed, elapsed, used })
}

/// Says under which conditions it was measured, and fails if they flatter.
pub fn tell_conditions(cluster: &Cluster) -> Result<()> {
    let fsync = cluster.ask(DATABASE, "show fsync")?;
    ensure!(fsync.trim() == "on", "fsync is {}", fsync.trim());
    ui::put(&format!("fsync: {}", fsync.trim()));
    ui::put(&format!("row-level security: {}", cluster.check_wall(DATABASE)?));
    Ok(())
}

/// How often functions of the database were called for so many events, and for how long, over the whole life of the
/// desk.
pub fn tell_functions(cluster: &Cluster, functions: &[&str], events: u64) -> Result<()> {
    for function in functions {
        let called = format!(
            "select calls, round({events}.0 / calls, 1), round((total_time / calls)::numeric, 2)
             from pg_stat_user_functions where funcname = '{function}'"
        );
        let called = cluster.ask(DATABASE, &called)?;
        let mut called = called.trim().split('|');
        let mut next = || called.next().unwrap_or_default().to_owned();
        let (calls, events, millis) = (next(), next(), next());
        ui::put(&format!("{function}: calls={calls} events_each={events} ms_each={millis}"));
    }
    Ok(())
}

/// How many transactions PostgreSQL has committed in the desk's database.
pub fn transactions(cluster: &Cluster) -> Result<u64> {
    let commits = "select xact_commit from pg_stat_database where datname = current_database()";
    Ok(cluster.ask(DATABASE, commits)?.trim().parse()?)
}
