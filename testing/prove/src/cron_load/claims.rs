//! Measures the rate at which the desk's store claims due jobs, compared with the bare statement.
//!
//! No agent is called: both sides only claim, one batch after the other, on one connection, over the same number of due
//! jobs.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_lease::Store as _;
use nightdesk_schedule::Store as _;
use nightdesk_store_pg::Pg;
use nightdesk_types::Node;
use nightdesk_types::limits::{FIRE_CALL_HELD, FIRES_CLAIMED_MAX};

use super::jobs;
use crate::cluster::{Cluster, output};
use crate::figures::{median, per_second, ratio};
use crate::setup::new_vault;
use crate::stage::DATABASE;
use crate::ui;

/// Node name of the claimer.
const NAME: &str = "claimer";

/// Lease duration of the claimer.
const LIFE: Duration = Duration::from_hours(1);

/// Claim rates of both sides.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Claims per second through the desk's store.
    pub store: f64,
    /// Claims per second with the bare statement.
    pub bare: f64,
}

impl Rates {
    /// Returns the store's rate divided by the bare rate.
    pub fn ratio(self) -> f64 {
        ratio(self.store, self.bare)
    }
}

/// Claims `a_turn` jobs in each turn, in alternation. Returns the median turn of each side.
pub fn measure(cluster: &Cluster, a_turn: usize, turns: usize) -> Result<Rates> {
    let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
    let (mut store, mut bare) = (Vec::new(), Vec::new());
    let (url, vault) = (cluster.app_url(DATABASE), new_vault()?);
    let pg = runtime.block_on(async { Pg::connect(&url, None, vault) })?;
    let node = runtime.block_on(async {
        let epoch = pg.begin(NAME, LIFE).await?;
        anyhow::Ok(Node { name: NAME.to_owned(), epoch })
    })?;
    let count = u64::try_from(a_turn)?;
    // The first two turns are a warm-up. Each side goes first equally often.
    for turn in 0..2 * (turns + 1) {
        due_now(cluster, a_turn)?;
        let of_store = turn % 4 == 0 || turn % 4 == 3;
        let took = if of_store {
            runtime.block_on(by_store(&pg, &node, a_turn))?
        } else {
            by_bare(cluster, &node, a_turn)?
        };
        if turn > 1 {
            let side = if of_store { &mut store } else { &mut bare };
            side.push(per_second(count, took));
        }
    }
    runtime.block_on(pg.close());
    let rates = Rates { store: median(&mut store), bare: median(&mut bare) };
    ui::put(&format!("claims: store_per_s={:.0} bare_per_s={:.0}", rates.store, rates.bare));
    Ok(rates)
}

/// Makes exactly the jobs of one turn due.
fn due_now(cluster: &Cluster, count: usize) -> Result<()> {
    cluster.ask(DATABASE, "delete from fires where next_at is not null")?;
    jobs::due(cluster, count, 0)?;
    cluster.ask(DATABASE, "vacuum analyze schedules")?;
    cluster.ask(DATABASE, "vacuum analyze fires")?;
    cluster.ask(DATABASE, "checkpoint").map(drop)
}

async fn by_store(pg: &Pg, node: &Node, count: usize) -> Result<Duration> {
    let began = Instant::now();
    let mut claimed = 0;
    while claimed < count {
        let claims = pg.claim(node, FIRES_CLAIMED_MAX).await?;
        ensure!(!claims.fires.is_empty(), "of {count} that are due {claimed} were claimed");
        claimed += claims.fires.len();
    }
    Ok(began.elapsed())
}

/// One statement that only takes the instants and writes their fires, without rules and without row-level security.
/// `pgbench` runs it as often as needed.
fn by_bare(cluster: &Cluster, node: &Node, count: usize) -> Result<Duration> {
    let script = cluster.folder().join("claim.sql");
    let statement = format!(
        "with due as materialized (
             select tenant_id, agent_id, job_id from schedules where next_at <= now()
             order by next_at limit {FIRES_CLAIMED_MAX} for update skip locked
         ), taken as (
             update schedules s set next_at = null, changed_at = clock_timestamp() from due
             where (s.tenant_id, s.agent_id, s.job_id) = (due.tenant_id, due.agent_id, due.job_id)
             returning s.*
         )
         insert into fires (tenant_id, fire_id, agent_id, job_id, arming, fire_at, due_at, state, tries,
             calling, next_at, node, began_at, reports)
         select tenant_id, gen_random_uuid(), agent_id, job_id, arming, fire_at, due_at, 'open', 1,
             true, clock_timestamp() + interval '{} s', '{}', clock_timestamp(), reports
         from taken returning *;\n",
        FIRE_CALL_HELD.as_secs(),
        node.name
    );
    fs::write(&script, statement).context("could not write a script for pgbench")?;
    let mut pgbench = cluster.client("pgbench");
    pgbench.args([
        "-n",
        "-M",
        "prepared",
        "-c",
        "1",
        "-j",
        "1",
        "-h",
        "127.0.0.1",
        "-U",
        "postgres",
    ]);
    pgbench.args(["-p", &cluster.port().to_string()]);
    pgbench.args(["-t", &count.div_ceil(FIRES_CLAIMED_MAX).to_string()]);
    let said = output(pgbench.arg("-f").arg(&script).arg(DATABASE))?;
    let left = jobs::fires(cluster, "= 'open'")?;
    ensure!(left == count, "the bare statement claimed {left} of {count}");
    latency(&said)
        .map(|each| {
            each.mul_f64(f64::from(u32::try_from(count.div_ceil(FIRES_CLAIMED_MAX)).unwrap_or(0)))
        })
        .with_context(|| format!("could not read what pgbench said:\n{said}"))
}

fn latency(said: &str) -> Option<Duration> {
    let line = said.lines().find_map(|line| line.strip_prefix("latency average = "))?;
    let ms: f64 = line.trim_end_matches(" ms").trim().parse().ok()?;
    Duration::try_from_secs_f64(ms / 1e3).ok()
}
