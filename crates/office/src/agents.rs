//! Agents with their conditions, as pages show them, and the numbers of a tenant.

use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{AgentId, TenantScope, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::condition::explain_condition;
use crate::error::OfficeError;
use crate::office::Office;
use crate::reads::{AgentGlance, AgentSelection, BoundedCount, TenantGlance};
use crate::times::seconds;

/// Rows of a full page of a list.
#[expect(clippy::cast_possible_truncation, reason = "a page has a thousand rows")]
pub const LIST_ROWS: usize = LIST_ROWS_MAX.unsigned_abs() as usize;

/// An agent in a list, with its condition.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentRow {
    /// Its name.
    pub name: String,
    /// Its id.
    #[schema(value_type = String)]
    pub id: AgentId,
    /// `awake`, `asleep`, `waking`, `unreachable` or `deaf`.
    pub condition: &'static str,
    /// The reason, in words.
    pub reason: String,
    /// The number of entries that wait.
    pub waiting: BoundedCount,
    /// The time at which the oldest of them was accepted.
    pub oldest_at: Option<String>,
    /// The number of parked entries.
    pub parked: BoundedCount,
}

impl AgentRow {
    fn new(glance: AgentGlance, now: Timestamp) -> Self {
        let AgentGlance { status, waiting, oldest_at, parked } = glance;
        let (condition, reason) = explain_condition(&status, now);
        Self {
            name: status.name,
            id: status.agent,
            condition: condition.slug(),
            reason,
            waiting,
            oldest_at: oldest_at.map(seconds),
            parked,
        }
    }
}

/// The agents that a caller wants.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AgentListQuery {
    /// `needed` for the agents that are needed and have not dialled in, `awake` for those with an open line.
    #[serde(default)]
    pub state: Option<String>,
    /// The beginning of the name.
    #[serde(default)]
    #[param(required = false)]
    pub prefix: String,
    /// The last name of the previous page.
    #[serde(default)]
    #[param(required = false)]
    pub after: String,
}

impl AgentListQuery {
    fn selection(&self) -> Result<AgentSelection<'_>, OfficeError> {
        match self.state.as_deref() {
            None | Some("") => {
                Ok(AgentSelection::Named { prefix: &self.prefix, after: &self.after })
            }
            Some("needed") => Ok(AgentSelection::Needed),
            Some("awake") => Ok(AgentSelection::Awake),
            Some(other) => Err(OfficeError::Invalid(format!(
                "{other} is no state of a list; use needed or awake, or none for all agents"
            ))),
        }
    }
}

/// The numbers of a tenant. A number with `more` ends at a bound.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TenantSummary {
    /// Agents.
    pub agents: BoundedCount,
    /// Agents with an open line.
    pub awake: BoundedCount,
    /// Agents that the desk calls.
    pub waking: BoundedCount,
    /// Agents with an open line that does not answer.
    pub deaf: BoundedCount,
    /// Agents that the desk gave up.
    pub unreachable: BoundedCount,
    /// Entries that wait for agents that are needed or awake.
    pub waiting: BoundedCount,
    /// The time at which the oldest of them was accepted.
    pub oldest_at: Option<String>,
    /// Parked entries that were not put into an inbox again.
    pub parked: BoundedCount,
}

impl From<TenantGlance> for TenantSummary {
    fn from(glance: TenantGlance) -> Self {
        let TenantGlance { agents, awake, waking, deaf, unreachable, waiting, oldest_at, parked } =
            glance;
        let oldest_at = oldest_at.map(seconds);
        Self { agents, awake, waking, deaf, unreachable, waiting, oldest_at, parked }
    }
}

impl Office {
    /// Returns the numbers of a tenant.
    pub async fn summary(&self, scope: TenantScope) -> Result<TenantSummary, OfficeError> {
        Ok(self.store.glance_at_tenant(scope).await?.into())
    }

    /// Returns a page of a tenant's agents.
    pub async fn agent_rows(
        &self,
        scope: TenantScope,
        query: &AgentListQuery,
        now: Timestamp,
    ) -> Result<Vec<AgentRow>, OfficeError> {
        let page = self.store.glance_at_agents(scope, query.selection()?).await?;
        Ok(page.into_iter().map(|glance| AgentRow::new(glance, now)).collect())
    }

    /// Returns one agent.
    pub async fn agent_row(
        &self,
        scope: TenantScope,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<AgentRow, OfficeError> {
        let found = self.store.glance_at_agents(scope, AgentSelection::Of(agent)).await?.pop();
        let found = found.map(|glance| AgentRow::new(glance, now));
        found.ok_or_else(|| OfficeError::NotFound("the agent was removed".to_owned()))
    }
}
