//! Measures the pages of the dashboard on a desk with many agents, and the rate of the road beside open dashboards.
//!
//! The largest tenant has a fifth of the agents. Every page is requested while nothing else runs. After that the road
//! of `road-rate` runs in turns without and with open dashboards, whose rows are read all the time.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_prove::desk::{Desk, Settings};
use nightdesk_prove::figures::{median, micros_each, per_second, ratio};
use nightdesk_prove::office_load::{
    Crowd, CrowdSize, Dashboards, PageTimes, ShownNames, Visitors, measure_pages,
};
use nightdesk_prove::phase::Phase;
use nightdesk_prove::platform::Order;
use nightdesk_prove::rate::{Measures, phase, tell_conditions};
use nightdesk_prove::stage::Stage;
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};
use tokio::runtime::Runtime;

/// Least rate of the road beside open dashboards, of its rate without them.
const ROAD_RATIO_MIN: f64 = 0.95;

/// Longest 99th percentile of a page's response times.
const PAGE_MS_MAX: f64 = 200.0;

/// Fewest turns of a comparison.
const TURNS_MIN: usize = 3;

/// Tenants of the road.
const ROAD_TENANTS: usize = 20;

/// Administrators of tenants of the road who look at dashboards.
const ADMINS: usize = 10;

/// Operators: each may have so many streams only.
const OPERATORS: usize = 2;

/// Measures the dashboard of a desk with many agents.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Number of agents.
    #[arg(long, default_value_t = 100_000)]
    agents: usize,

    /// Number of entries in their inboxes.
    #[arg(long, default_value_t = 1_000_000)]
    entries: usize,

    /// Number of agents with a line, among which the road runs.
    #[arg(long, default_value_t = 1_000)]
    lines: usize,

    /// Number of tenants beside those of the road.
    #[arg(long, default_value_t = 400)]
    tenants: usize,

    /// Number of nodes.
    #[arg(long, default_value_t = 3)]
    nodes: usize,

    /// Number of open dashboards.
    #[arg(long, default_value_t = 50)]
    dashboards: usize,

    /// Number of requests of each page.
    #[arg(long, default_value_t = 100)]
    requests: usize,

    /// Number of the platform's connections, each with one event at a time.
    #[arg(long, default_value_t = 128)]
    connections: u64,

    /// Seconds of each turn of the road.
    #[arg(long, default_value_t = 10)]
    seconds: u64,

    /// Number of turns of the road without and with dashboards.
    #[arg(long, default_value_t = 5)]
    turns: usize,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/release/nightdesk")]
    desk: PathBuf,
}

impl Arguments {
    fn measures(&self) -> Measures {
        Measures {
            agents: self.lines,
            nodes: self.nodes,
            redis: false,
            tenants: ROAD_TENANTS,
            connections: self.connections,
            seconds: self.seconds,
            turns: self.turns,
            desk: self.desk.clone(),
        }
    }

    fn crowd(&self) -> Result<CrowdSize> {
        ensure!(self.turns >= TURNS_MIN, "give at least {TURNS_MIN} turns");
        ensure!(self.lines >= ROAD_TENANTS, "give at least {ROAD_TENANTS} lines");
        let agents =
            self.agents.checked_sub(self.lines).context("there are more lines than agents")?;
        let largest = self.agents / 5;
        Ok(CrowdSize { agents, entries: self.entries, tenants: self.tenants, largest })
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("office-load", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let (size, measures) = (arguments.crowd()?, arguments.measures());
    let mut stage = measures.stage()?;
    let office = stage.another("office")?;
    let largest = stage.cast.members.first().context("nobody is on the road")?.tenant;
    let crowd = Crowd::enter(&stage.cluster, office.vault()?, largest, size)?;
    stage.dial()?;
    ui::say("warming up");
    phase(&mut stage, &Order::Run(measures.phase_ms()))?;
    let beside = DashboardPlan::make(&stage, &office, arguments.dashboards)?;
    let pages = beside.runtime.block_on(async {
        let shown = ShownNames::make(&crowd, &beside.visitors.admins[0]).await?;
        ui::say("requesting the pages");
        measure_pages(&shown, &beside.visitors, arguments.requests).await
    })?;
    let road = RoadTurns::run(&mut stage, &measures, &beside)?;
    stage.check_history()?;
    tell_conditions(&stage.cluster)?;
    road.tell();
    tell(arguments, &pages, road.ratio())
}

/// The dashboards that are opened beside the road.
#[derive(Debug)]
struct DashboardPlan {
    runtime: Runtime,
    visitors: Visitors,
    nodes: Vec<SocketAddr>,
    count: usize,
}

impl DashboardPlan {
    /// Logs the users in.
    fn make(stage: &Stage, office: &Settings, count: usize) -> Result<Self> {
        let runtime = Runtime::new().context("could not start the runtime")?;
        let nodes: Vec<SocketAddr> = stage.nodes().map(Desk::address).collect();
        let links = (1..=OPERATORS).map(|nth| office.operator_link(&format!("operator-{nth}")));
        let links: Vec<String> = links.collect::<Result<_>>()?;
        let visitors = runtime.block_on(Visitors::log_in(nodes[0], &links, ADMINS))?;
        Ok(Self { runtime, visitors, nodes, count })
    }

    /// Opens the dashboards, and waits until each has shown its rows.
    fn open(&self) -> Result<Dashboards> {
        self.runtime.block_on(Dashboards::open(self.count, &self.visitors, &self.nodes))
    }
}

/// The rates of the road without and with dashboards.
#[derive(Debug, Default)]
struct RoadTurns {
    alone: RoadSide,
    watched: RoadSide,
    updates: u64,
}

/// One side of the comparison.
#[derive(Debug, Default)]
struct RoadSide {
    rates: Vec<f64>,
    sum: Phase,
}

impl RoadSide {
    fn add(&mut self, phase: &Phase) {
        self.rates.push(phase.rate());
        self.sum.add(phase);
    }

    /// Returns the median rate of the turns.
    fn rate(&self) -> f64 {
        median(&mut self.rates.clone())
    }
}

impl RoadTurns {
    /// Runs the turns. Each side goes first in every other one.
    fn run(stage: &mut Stage, measures: &Measures, beside: &DashboardPlan) -> Result<Self> {
        let mut road = Self::default();
        let order = Order::Run(measures.phase_ms());
        for turn in 1..=measures.turns {
            if turn % 2 == 1 {
                road.alone.add(&phase(stage, &order)?);
            }
            let open = beside.open()?;
            road.watched.add(&phase(stage, &order)?);
            road.updates += beside.runtime.block_on(open.close())?;
            if turn % 2 == 0 {
                road.alone.add(&phase(stage, &order)?);
            }
            let last = |side: &RoadSide| side.rates.last().copied().unwrap_or_default();
            let (alone, watched) = (last(&road.alone), last(&road.watched));
            ui::say(&format!("turn {turn}: alone {alone:.0}/s, with dashboards {watched:.0}/s"));
        }
        Ok(road)
    }

    /// Returns the rate with dashboards, of the rate without them.
    fn ratio(&self) -> f64 {
        ratio(self.watched.rate(), self.alone.rate())
    }

    fn tell(&self) {
        for (name, side) in [("alone", &self.alone), ("watched", &self.watched)] {
            let Phase { events, used, .. } = &side.sum;
            ui::put(&format!(
                "road {name}: per_s={:.0} desk_cpu_us={:.1} pg_cpu_us={:.1}",
                side.rate(),
                micros_each(used.desk, *events),
                micros_each(used.pg, *events),
            ));
        }
        let updates = per_second(self.updates, self.watched.sum.elapsed);
        ui::put(&format!("dashboards: updates_per_s={updates:.1}"));
    }
}

/// Prints the figures, and fails if a page or the road is too slow.
fn tell(arguments: &Arguments, pages: &[PageTimes], road_ratio: f64) -> Result<()> {
    let Arguments { agents, entries, .. } = arguments;
    let slowest = pages.iter().max_by(|one, other| one.p99_ms.total_cmp(&other.p99_ms));
    let PageTimes { name, p50_ms, p99_ms } = slowest.context("there are no pages")?;
    ui::say(&format!("the slowest page is {name}: p50_ms={p50_ms:.1} p99_ms={p99_ms:.1}"));
    ui::put(&format!(
        "office-load: agents={agents} entries={entries} road_ratio={road_ratio:.3} \
         page_p99_ms={p99_ms:.1} pages={}",
        pages.len()
    ));
    ensure!(*p99_ms <= PAGE_MS_MAX, "the page {name} takes {p99_ms:.0} ms");
    ensure!(
        road_ratio >= ROAD_RATIO_MIN,
        "dashboards slow the road to {road_ratio:.3} of its rate"
    );
    Ok(())
}
