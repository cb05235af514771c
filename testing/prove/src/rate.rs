//! Contains the common parts of rate proofs: a stage, and phases on it that alternate.

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

/// Pause between two phases, so that one does not affect the other.
pub const REST: Duration = Duration::from_millis(500);

/// Size of the stage, and duration of the proof.
#[derive(Debug, clap::Args)]
pub struct Measures {
    /// Number of agents behind the shared bot.
    #[arg(long, default_value_t = 1_000)]
    pub agents: usize,

    /// Number of nodes.
    #[arg(long, default_value_t = 3)]
    pub nodes: usize,

    /// Uses Redis as the bell also with one node. With several nodes it is always used.
    #[arg(long)]
    pub redis: bool,

    /// Number of tenants that own the agents.
    #[arg(long, default_value_t = 20)]
    pub tenants: usize,

    /// Number of the platform's connections, each with one event at a time.
    #[arg(long, default_value_t = 128)]
    pub connections: u64,

    /// Seconds of each phase. Short phases distribute the load of a busy machine more evenly.
    #[arg(long, default_value_t = 4)]
    pub seconds: u64,

    /// Number of turns of the two sides.
    #[arg(long, default_value_t = 6)]
    pub turns: usize,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    pub desk: PathBuf,
}

impl Measures {
    /// Returns the size of the cast.
    pub const fn size(&self) -> Size {
        Size::of(self.tenants, self.agents)
    }

    /// Sets up the stage. No gateway dials yet.
    pub fn stage(&self) -> Result<Stage> {
        let (desk, size) = (&*self.desk, self.size());
        if self.redis || self.nodes > 1 {
            Stage::set_ringing(desk, self.nodes, &size, self.connections)
        } else {
            Stage::set(desk, &size, self.connections)
        }
    }

    /// Returns the duration of a phase in milliseconds.
    pub const fn phase_ms(&self) -> u64 {
        self.seconds * 1_000
    }
}

/// Runs a phase with this command. Events in flight at its end do not count.
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

/// Prints the conditions of the measurement, and fails if they are too favourable.
pub fn tell_conditions(cluster: &Cluster) -> Result<()> {
    let fsync = cluster.ask(DATABASE, "show fsync")?;
    ensure!(fsync.trim() == "on", "fsync is {}", fsync.trim());
    ui::put(&format!("fsync: {}", fsync.trim()));
    ui::put(&format!("row-level security: {}", cluster.check_wall(DATABASE)?));
    Ok(())
}

/// Prints the calls and durations of database functions for this many events, over the whole life of the desk.
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

/// Returns the number of transactions committed in the desk's database.
pub fn transactions(cluster: &Cluster) -> Result<u64> {
    let commits = "select xact_commit from pg_stat_database where datname = current_database()";
    Ok(cluster.ask(DATABASE, commits)?.trim().parse()?)
}
