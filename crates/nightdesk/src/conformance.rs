//! `conformance agent`: runs a program as an agent against a trial desk, makes faults between them, and judges the agent
//! by what a bystander sees: the chats, and the signals that pass a [door](door::DeskDoor).

mod door;
mod facts;
mod fault;
mod judge;
mod limits;
mod posts;
mod program;
mod report;
mod scenario;
mod script;
mod stage;
mod trial;
mod visitor;
mod wire;

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, ensure};
use nightdesk_outside::Rules;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout};
use tokio_util::task::TaskTracker;

use crate::command::AgentTrialArgs;
use crate::config::Config;
use crate::lifecycle::StopSignals;
use crate::trial_desk::TrialDesk;
use crate::ui;

pub(crate) use scenario::{TrialScenario, TrialTransport};

/// The faults of a trial are no news.
const LOG_FILTER: &str = "error,rmcp=off";

/// The addresses that the desk of a trial may call.
const LOOPBACK: &str = "127.0.0.0/8";

use posts::PostDoor;
use report::{ScenarioOutcome, ScenarioReport, TrialReport};
use stage::TrialStage;
use trial::Trial;

/// Runs the scenarios of a trial, and fails if the agent failed in one.
pub(crate) async fn run(arguments: AgentTrialArgs, json: bool) -> anyhow::Result<()> {
    let mut stop_signals = StopSignals::listen()?;
    let tasks = TaskTracker::new();
    let posts = PostDoor::open(&tasks).await?;
    let address = free_address().await?;
    let port = posts.port();
    let set = |config: &mut Config| {
        config.outside = loopback_rules(port);
        LOG_FILTER.clone_into(&mut config.log.filter);
    };
    let work = async |desk: &TrialDesk| {
        let stage = TrialStage::prepare(desk, posts, tasks.clone(), &arguments).await?;
        tokio::select! {
            report = run_scenarios(&stage, &arguments) => Ok(Some(report)),
            () = stop_signals.wait() => Ok(None),
        }
    };
    let report = TrialDesk::run(address, set, work).await?;
    let report = report.context("the trial was interrupted")?;
    report.print(json);
    let (failed, count) = (report.failed(), report.scenarios.len());
    ensure!(failed == 0, "the agent failed in {failed} of {count} scenarios");
    Ok(())
}

async fn run_scenarios(stage: &TrialStage<'_>, arguments: &AgentTrialArgs) -> TrialReport {
    let transport = arguments.transport;
    let chosen = TrialScenario::choose(transport, &arguments.scenario);
    let mut scenarios = Vec::new();
    for scenario in chosen {
        ui::print_text(&format!("{}: {} …", scenario.name(), scenario.about()));
        let report = run_scenario(stage, scenario).await;
        report.print_progress();
        scenarios.push(report);
    }
    TrialReport { transport, scenarios }
}

async fn run_scenario(stage: &TrialStage<'_>, scenario: TrialScenario) -> ScenarioReport {
    let began_at = Instant::now();
    let (outcome, output) = match Trial::prepare(stage, scenario).await {
        Ok(mut trial) => {
            let played = timeout(limits::SCENARIO_WAIT, script::play(&mut trial, scenario)).await;
            let played = played.unwrap_or_else(|_| Err(anyhow::anyhow!("it took too long")));
            let outcome = ScenarioOutcome::of(&trial.end().await, scenario, played);
            (outcome, trial.output())
        }
        Err(error) => (ScenarioOutcome::from_error(&error), Vec::new()),
    };
    ScenarioReport { scenario, outcome, output, took: began_at.elapsed() }
}

/// The rules by which the desk calls the door for posts, and nothing else.
fn loopback_rules(port: u16) -> Rules {
    Rules {
        http: true,
        ranges: LOOPBACK.parse().into_iter().collect(),
        ports: vec![port],
        rates: [(Ipv4Addr::LOCALHOST.to_string(), limits::POST_RATE)].into(),
        ..Rules::default()
    }
}

/// Returns an address on which nothing listens.
async fn free_address() -> anyhow::Result<SocketAddr> {
    let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let probe = probe.context("could not find a free port")?;
    Ok(probe.local_addr()?)
}
