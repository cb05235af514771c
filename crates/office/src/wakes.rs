//! Wakes: the status of agents, and their wake URLs.

mod calls;

use nightdesk_types::limits::WAKERS_MAX;
use nightdesk_types::{AgentId, TenantScope, Timestamp, Transport};
use nightdesk_wake::AgentWakeStatus;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::times::seconds;

pub use calls::{WakeCallView, WakeTrialView};

/// The wake status of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentWakeView {
    /// The agent's name.
    pub agent: String,
    /// The agent's id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// `none`, or the time since which the agent's line is open.
    pub line: String,
    /// The transport of the line.
    pub transport: Option<&'static str>,
    /// The reason for which the agent is awake.
    pub awake_because: Option<String>,
    /// The rules by which the agent's client is served.
    pub client_rules: &'static str,
    /// The number of entries that wait. At most 1000 are counted.
    pub waiting: u64,
    /// The number of wake URLs.
    pub urls: u64,
    /// `due`, `held`, `woken`, `settled`, `unreachable`, or `never needed`.
    pub wake: String,
    /// The time since which the agent is needed.
    pub since: Option<String>,
    /// The number of calls since then.
    pub calls: Option<u32>,
    /// The end of the last call.
    pub called_at: Option<String>,
    /// The outcome of the last call.
    pub outcome: Option<String>,
    /// The time of the next call.
    pub next_at: Option<String>,
    /// The last time at which the agent dialled in because it was needed.
    pub woken_at: Option<String>,
}

impl From<AgentWakeStatus> for AgentWakeView {
    fn from(status: AgentWakeStatus) -> Self {
        let awake_because = status.awake_because();
        let wake = status.wake.as_ref();
        Self {
            agent: status.name,
            agent_id: status.agent,
            line: status.line_since.map_or_else(|| "none".to_owned(), open_line),
            transport: status.transport.map(Transport::slug),
            awake_because,
            client_rules: status.rules.slug(),
            waiting: status.waiting,
            urls: status.urls,
            wake: wake.map_or("never needed", |wake| &wake.state).to_owned(),
            since: wake.map(|wake| seconds(wake.since)),
            calls: wake.map(|wake| wake.calls),
            called_at: wake.and_then(|wake| wake.called_at).map(seconds),
            outcome: wake.and_then(|wake| wake.outcome.clone()),
            next_at: wake.and_then(|wake| wake.due_at).map(seconds),
            woken_at: wake.and_then(|wake| wake.woken_at).map(seconds),
        }
    }
}

fn open_line(since: Timestamp) -> String {
    format!("open since {}", seconds(since))
}

/// The wake URLs of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WakeUrlsView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The URLs, in the order of calls.
    pub urls: Vec<String>,
}

impl Office {
    /// Returns the wake status of a page of a tenant's agents, by name, after this one.
    pub async fn wakes(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<AgentWakeView>, OfficeError> {
        let page = self.store.status(scope, None, after).await?;
        Ok(page.into_iter().map(AgentWakeView::from).collect())
    }

    /// Returns the wake status of an agent.
    pub async fn wake(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<AgentWakeView, OfficeError> {
        Ok(self.wake_status(scope, agent).await?.into())
    }

    /// Returns the wake URLs of an agent.
    pub async fn wake_urls(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<WakeUrlsView, OfficeError> {
        let urls = self.store.wake_urls(scope, agent).await?;
        Ok(WakeUrlsView { agent_id: agent, urls })
    }

    /// Sets the wake URLs of an agent, in the order of calls.
    pub async fn set_wake_urls(
        &self,
        scope: TenantScope,
        agent: AgentId,
        urls: &[String],
    ) -> Result<WakeUrlsView, OfficeError> {
        if urls.len() > WAKERS_MAX {
            return Err(OfficeError::Invalid(format!(
                "an agent has at most {WAKERS_MAX} URLs; leave some out"
            )));
        }
        let wake = &self.desk.stops.wake;
        let read = |url: &String| {
            let refused = |why| OfficeError::Invalid(format!("{url} cannot be called: {why}"));
            wake.may_call(url).map_err(refused)
        };
        let urls: Vec<String> = urls.iter().map(read).collect::<Result<_, _>>()?;
        self.store.set_wake_urls(scope, agent, &urls).await?;
        self.wake_urls(scope, agent).await
    }

    async fn wake_status(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<AgentWakeStatus, OfficeError> {
        let found = self.store.status(scope, Some(agent), "").await?.pop();
        found.ok_or_else(no_inbox)
    }
}

fn no_inbox() -> OfficeError {
    OfficeError::NotFound("the agent has no inbox".to_owned())
}
