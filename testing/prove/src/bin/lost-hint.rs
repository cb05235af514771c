//! Measures the delay of an entry whose hint is lost without a visible failure.
//!
//! Two desks share one database without Redis, so every hint from one desk to the other is lost and no connection
//! breaks. Each agent gets one event through the desk that does not hold its line. The sweep over all lines finds it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use nightdesk_prove::platform::Order;
use nightdesk_prove::setup::Size;
use nightdesk_prove::stage::{DATABASE, Stage};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};
use nightdesk_types::limits::SWEEP_EVERY;

/// Number of tenants that own the agents.
const TENANTS: usize = 20;

/// Connections that post the events.
const CONNECTIONS: u64 = 16;

/// Time after the bound after which a missing entry counts as lost.
const SLACK: Duration = Duration::from_secs(10);

/// Time from an entry's commit to its frame, for all entries that were handed over.
const COSTS: &str = "
    select round(percentile_cont(0.5) within group (order by ms)),
           round(percentile_cont(0.99) within group (order by ms)), round(max(ms)), count(*)
    from (select extract(epoch from a.handed_at - e.at) * 1000 as ms
          from inbox_acks a join inbox_entries e using (tenant_id, agent_id)
          where e.seq between a.from_seq and a.to_seq) as handed";

/// Measures the cost of a silently lost hint.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Number of agents with a line.
    #[arg(long, default_value_t = 2_560)]
    lines: usize,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("lost-hint", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let size = Size::of(TENANTS, arguments.lines);
    // The other desk runs for as long as events are posted to it.
    let (mut stage, _other) = Stage::set_apart(&arguments.desk, &size, CONNECTIONS)?;
    stage.dial()?;
    ui::say("posting one event for each line to the other desk");
    let told = stage.post(&Order::Each(1))?;
    stage.arrived_within(told, SWEEP_EVERY + SLACK)?;
    stage.check_history()?;

    let costs = stage.cluster.ask(DATABASE, COSTS)?;
    let mut costs = costs.trim().split('|');
    let mut next = || costs.next().context("nothing was handed over");
    let (p50, p99, max, hints) = (next()?, next()?, next()?, next()?);
    ui::put(&format!("hints_lost: {hints} slowest_ms={max}"));
    let bound = SWEEP_EVERY.as_millis();
    ui::put(&format!("lost-hint: p50_ms={p50} p99_ms={p99} bound_ms={bound}"));
    Ok(())
}
