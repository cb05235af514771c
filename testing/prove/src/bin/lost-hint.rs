//! Lost hint: what it costs when one is lost and nobody notices.
//!
//! Two desks have one database and no Redis between them, so that every hint from one to the
//! other is lost and there is no break to be seen. Each agent gets one event through the desk
//! that does not hold its line: the sweep over all lines finds it.

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

/// Tenants whose agents these are.
const TENANTS: usize = 20;

/// Connections that post the events.
const CONNECTIONS: u64 = 16;

/// How long after the bound the last one may come before it counts as lost.
const SLACK: Duration = Duration::from_secs(10);

/// From an entry's commit to its frame, for all that were handed over.
const COSTS: &str = "
    select round(percentile_cont(0.5) within group (order by ms)),
           round(percentile_cont(0.99) within group (order by ms)), round(max(ms)), count(*)
    from (select extract(epoch from a.handed_at - e.at) * 1000 as ms
          from inbox_acks a join inbox_entries e using (tenant_id, agent_id)
          where e.seq between a.from_seq and a.to_seq) as handed";

/// Measures what a silently lost hint costs.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// How many agents have a line.
    #[arg(long, default_value_t = 2_560)]
    lines: usize,

    /// The desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("lost-hint", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let size = Size::of(TENANTS, arguments.lines);
    // The other desk runs for as long as it is posted to.
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
