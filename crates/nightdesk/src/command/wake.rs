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
use nightdesk_wake::{Outcome, Status, Wakers};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::names::Whose;
use super::{Page, list, names};
use crate::config::Config;
use crate::ui::Answer;
use crate::wiring;

/// Interval at which a step's completion is polled.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, Subcommand)]
pub(crate) enum Wake {
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
        page: Page,
    },
    /// Call an agent now, even if no entry waits for it, and show the result.
    #[command(after_help = "Example:\n  nightdesk wake call --tenant acme --agent helper")]
    Call(Whose),
}

/// Runs a command about waking.
pub(super) async fn run(
    config: &Config,
    register: &Register,
    pg: &Arc<Pg>,
    command: Wake,
) -> anyhow::Result<Answer> {
    match command {
        Wake::Status { tenant, agent: Some(agent), page: _ } => {
            let (scope, agent) = Whose { tenant, agent }.found(register).await?;
            Ok(Answer::One(list::status(&status(&**pg, scope, agent).await?)))
        }
        Wake::Status { tenant, agent: None, page } => {
            let scope = names::tenant(register, &tenant).await?;
            let all = pg.status(scope, None, &page.after).await?;
            Ok(Answer::Many(all.iter().map(list::status).collect()))
        }
        Wake::Call(whose) => {
            let (scope, agent) = whose.found(register).await?;
            let before = status(&**pg, scope, agent).await?;
            if let Some(since) = before.line_since {
                bail!("the agent is awake, with a line since {}", list::second(since));
            }
            let outcome = call(config, pg, scope, agent, &before).await?;
            Ok(Answer::One(json!({ "agent_id": agent, "outcome": words(&outcome) })))
        }
    }
}

/// Makes one call, with the wakers and the limits of a node.
async fn call(
    config: &Config,
    pg: &Arc<Pg>,
    scope: TenantScope,
    agent: AgentId,
    before: &Status,
) -> anyhow::Result<Outcome> {
    let wake = wiring::wake(config, pg, wiring::outside(config)?)?;
    pg.ask(scope, agent).await?;
    match wake.claim_of(scope, agent).await? {
        Some((claimed, room)) => Ok(wake.call(&claimed, &room).await?),
        None => outcome_at_a_node(&**pg, scope, agent, before).await,
    }
}

/// Returns the outcome of a call that a node claimed before this command did. An agent that was called just before gets
/// no second call.
async fn outcome_at_a_node(
    wakers: &dyn Wakers,
    scope: TenantScope,
    agent: AgentId,
    before: &Status,
) -> anyhow::Result<Outcome> {
    let called_before = before.wake.as_ref().and_then(|wake| wake.called_at);
    let now = SystemClock::started().now();
    let rests = called_before.is_some_and(|at| now.duration_since(at).unsigned_abs() < CALL_GAP);
    let patience = Instant::now() + OUTSIDE_CALL_WAIT;
    loop {
        let status = status(wakers, scope, agent).await?;
        let made = status.wake.as_ref().filter(|wake| wake.called_at != called_before);
        if let Some(outcome) = made.and_then(|wake| wake.outcome.clone()) {
            return Ok(Outcome::Taken(outcome));
        }
        if rests || Instant::now() >= patience {
            bail!(unclaimed(&status));
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Returns the reason that there was no call to make.
fn unclaimed(status: &Status) -> String {
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
    wakers: &dyn Wakers,
    scope: TenantScope,
    agent: AgentId,
) -> anyhow::Result<Status> {
    let found = wakers.status(scope, Some(agent), "").await?.pop();
    found.context("the agent has no inbox")
}

/// Formats the outcome of a call for a person.
pub(super) fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Taken(words) | Outcome::Failed(words) => words.clone(),
        Outcome::PutOff(Duration::ZERO) => {
            "not made: this machine stalled before the call; a node makes it, or repeat the command"
                .to_owned()
        }
        Outcome::PutOff(wait) => format!(
            "not made: the host's rate limit is reached; the call is made in {} s; outside.rates sets the \
             limit",
            wait.as_secs().max(1)
        ),
    }
}

/// Sets or shows the URLs of an agent.
pub(super) async fn urls(
    config: &Config,
    wakers: &dyn Wakers,
    scope: TenantScope,
    agent: AgentId,
    urls: &[String],
    clear: bool,
) -> anyhow::Result<Answer> {
    ensure!(urls.len() <= WAKERS_MAX, "an agent has at most {WAKERS_MAX} URLs; leave some out");
    let read = |url: &String| {
        let read = TenantUrl::parse(url, &config.outside);
        read.map(|url| url.as_str().to_owned()).with_context(|| format!("{url} cannot be called"))
    };
    let read: Vec<String> = urls.iter().map(read).collect::<anyhow::Result<_>>()?;
    if clear || !read.is_empty() {
        wakers.set_wakers(scope, agent, &read).await?;
    }
    let urls = wakers.wakers(scope, agent).await?;
    Ok(Answer::One(json!({ "agent_id": agent, "urls": urls })))
}
