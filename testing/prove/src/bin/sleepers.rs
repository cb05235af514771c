//! Measures the storage cost of sleeping agents.
//!
//! No agent dials in. Every agent gets some entries, and the size of all tables and indexes is compared: without
//! agents, with them, and with their entries.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_prove::figures::growth_each;
use nightdesk_prove::platform::Order;
use nightdesk_prove::setup::Size;
use nightdesk_prove::stage::{DATABASE, Stage, seeded};
use nightdesk_prove::worker::{self, Work};
use nightdesk_prove::{procfs, ui};

/// Number of tenants that own the agents.
const TENANTS: usize = 20;

/// Connections that post the entries.
const CONNECTIONS: u64 = 32;

/// A database with the tenants and almost no agents.
const EMPTY: &str = "empty";

/// Size of all tables with their indexes, after every free page is returned.
const BYTES: &str = "
    select sum(pg_total_relation_size(c.oid)) from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'm')";

/// Measures the cost of sleeping agents.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Number of sleeping agents.
    #[arg(long, default_value_t = 10_000)]
    agents: usize,

    /// Number of entries that wait for each agent.
    #[arg(long, default_value_t = 10)]
    entries: u64,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("sleepers", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let Arguments { agents, entries, .. } = arguments;
    let mut stage = Stage::set(&arguments.desk, &Size::of(TENANTS, *agents), CONNECTIONS)?;
    seeded(&arguments.desk, &stage.cluster, EMPTY, &Size::of(TENANTS, 1))?;
    let (empty, asleep) = (bytes(&stage, EMPTY)?, bytes(&stage, DATABASE)?);
    for entry in 1..=*entries {
        ui::say(&format!("posting entry {entry} of {entries} for each of {agents} agents"));
        stage.post(&Order::Each(1))?;
    }
    let waiting = bytes(&stage, DATABASE)?;
    let held = stage.cluster.ask(DATABASE, "select count(*) from inbox_entries")?;
    let posted = *agents as u64 * entries;
    ensure!(held.trim() == posted.to_string(), "of {posted} entries {} are held", held.trim());

    let sockets = procfs::connections(stage.desk.address().port())?;
    ui::put(&format!("bytes: empty={empty} agents={asleep} entries={waiting}"));
    ui::put(&format!(
        "sleepers: agents={agents} entries_each={entries} bytes_per_agent={:.0} \
         bytes_per_entry={:.0} sockets={sockets}",
        growth_each(empty, asleep, *agents as u64),
        growth_each(asleep, waiting, posted),
    ));
    Ok(())
}

fn bytes(stage: &Stage, database: &str) -> Result<u64> {
    stage.cluster.ask(database, "vacuum")?;
    let bytes = stage.cluster.ask(database, BYTES)?;
    bytes.trim().parse().context("could not read what the tables weigh")
}
