//! Commands about sleeping agents.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Subcommand;
use nightdesk_outside::TenantUrl;
use nightdesk_register::Register;
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::{CALL_GAP, OUTSIDE_CALL_WAIT, WAKERS_MAX};
use nightdesk_types::{AgentId, Clock, SystemClock, TenantScope};
use nightdesk_wake::{AgentWakeStatus, CallOutcome, WakeAdmin};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::names::AgentArgs;
use super::{PageArgs, list, names};
use crate::config::Config;
use crate::ui::CommandOutput;
use crate::wiring;

/// Interval at which a step's completion is polled.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, Subcommand)]
pub(crate) enum WakeSubcommand {
    /// Show which agents are up, which are being called, and the results of the calls.
    #[command(after_help = "Example:\n  nightdesk wake status --tenant acme --agent helper")]
    Status {
        /// The agents' tenant, by name or id.
        #[arg(long)]
        tenant: String,
        /// Only this agent, by name or id. Without it, all agents.
        #[arg(long)]
        agent: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Call an agent now, even if no entry waits for it, and show the result.
    #[command(after_help = "Example:\n  nightdesk wake call --tenant acme --agent helper")]
    Call(AgentArgs),
}

/// Runs a command about waking.
pub(super) async fn run(
    config: &Config,
    register: &Register,
    pg: &Arc<Pg>,
    command: WakeSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        WakeSubcommand::Status { tenant, agent: Some(agent), page: _ } => {
            let (scope, agent) = AgentArgs { tenant, agent }.resolve(register).await?;
            Ok(CommandOutput::One(list::status(&status(&**pg, scope, agent).await?)))
        }
        WakeSubcommand::Status { tenant, agent: None, page } => {
            let scope = names::tenant(register, &tenant).await?;
            let all = pg.status(scope, None, &page.after).await?;
            Ok(CommandOutput::Many(all.iter().map(list::status).collect()))
        }
        WakeSubcommand::Call(whose) => {
            let (scope, agent) = whose.resolve(register).await?;
            let before = status(&**pg, scope, agent).await?;
            if let Some(since) = before.line_since {
                bail!("the agent is awake, with a line since {}", list::format_second(since));
            }
            let outcome = call(config, pg, scope, agent, &before).await?;
            Ok(CommandOutput::One(json!({ "agent_id": agent, "outcome": outcome_text(&outcome) })))
        }
    }
}

/// Makes one call, with the wakers and the limits of a node.
async fn call(
    config: &Config,
    pg: &Arc<Pg>,
    scope: TenantScope,
    agent: AgentId,
    before: &AgentWakeStatus,
) -> anyhow::Result<CallOutcome> {
    let wake = wiring::wake(config, pg, wiring::outside(config)?)?;
    pg.request_call(scope, agent).await?;
    match wake.claim_agent(scope, agent).await? {
        Some((claimed, room)) => Ok(wake.call(&claimed, &room).await?),
        None => outcome_at_a_node(&**pg, scope, agent, before).await,
    }
}

/// Returns the outcome of a call that a node claimed before this command did. An agent that was called just before gets
/// no second call.
async fn outcome_at_a_node(
    wakers: &dyn WakeAdmin,
    scope: TenantScope,
    agent: AgentId,
    before: &AgentWakeStatus,
) -> anyhow::Result<CallOutcome> {
    let called_before = before.wake.as_ref().and_then(|wake| wake.called_at);
    let now = SystemClock::start().now();
    let rests = called_before.is_some_and(|at| now.duration_since(at).unsigned_abs() < CALL_GAP);
    let patience = Instant::now() + OUTSIDE_CALL_WAIT;
    loop {
        let status = status(wakers, scope, agent).await?;
        let made = status.wake.as_ref().filter(|wake| wake.called_at != called_before);
        if let Some(outcome) = made.and_then(|wake| wake.outcome.clone()) {
            return Ok(CallOutcome::Taken(outcome));
        }
        if rests || Instant::now() >= patience {
            bail!(no_call_reason(&status));
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Returns the reason that there was no call to make.
fn no_call_reason(status: &AgentWakeStatus) -> String {
    let outcome = status.wake.as_ref().and_then(|wake| wake.outcome.as_deref());
    if outcome == Some("no waker") {
        return "the agent has no wake URL; set one with `nightdesk agent wake-url`, or \
                wake.command in the configuration"
            .to_owned();
    }
    let gap = CALL_GAP.as_secs();
    format!(
        "the agent was called within the last {gap} seconds; `nightdesk wake status` shows the result"
    )
}

/// Returns the status of one agent.
pub(super) async fn status(
    wakers: &dyn WakeAdmin,
    scope: TenantScope,
    agent: AgentId,
) -> anyhow::Result<AgentWakeStatus> {
    let found = wakers.status(scope, Some(agent), "").await?.pop();
    found.context("the agent has no inbox")
}

/// Formats the outcome of a call for a person.
pub(super) fn outcome_text(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Taken(words) | CallOutcome::Failed(words) => words.clone(),
        CallOutcome::PutOff(Duration::ZERO) => {
            "not made: this machine stalled before the call; a node makes it, or repeat the command"
                .to_owned()
        }
        CallOutcome::PutOff(wait) => format!(
            "not made: the host's rate limit is reached; the call is made in {} s; outside.rates sets the \
             limit",
            wait.as_secs().max(1)
        ),
    }
}

/// Sets or shows the URLs of an agent.
pub(super) async fn urls(
    config: &Config,
    wakers: &dyn WakeAdmin,
    scope: TenantScope,
    agent: AgentId,
    urls: &[String],
    clear: bool,
) -> anyhow::Result<CommandOutput> {
    ensure!(urls.len() <= WAKERS_MAX, "an agent has at most {WAKERS_MAX} URLs; leave some out");
    let read = |url: &String| {
        let read = TenantUrl::parse(url, &config.outside);
        read.map(|url| url.as_str().to_owned()).with_context(|| format!("{url} cannot be called"))
    };
    let read: Vec<String> = urls.iter().map(read).collect::<anyhow::Result<_>>()?;
    if clear || !read.is_empty() {
        wakers.set_wake_urls(scope, agent, &read).await?;
    }
    let urls = wakers.wake_urls(scope, agent).await?;
    Ok(CommandOutput::One(json!({ "agent_id": agent, "urls": urls })))
}
