//! Stops of running turns.

use nightdesk_desk::stopping::{StopOrder, StopReport};
use nightdesk_letters::Party;
use nightdesk_types::{AgentId, StopOutcome, TenantScope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;

/// The result of a stop.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TurnStopView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// `stopped`, `not-running`, `delivered` to a client that does not report the result, or `undelivered`.
    pub outcome: &'static str,
    /// The number of waiting entries that were set aside.
    pub dropped: usize,
}

/// The permission of an agent to stop the turns of its tenant's other agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StopPermission {
    /// True if the agent may stop them.
    pub stops_others: bool,
}

/// An agent and its permission.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StopPermissionView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// True if the agent may stop the turns of its tenant's other agents.
    pub stops_others: bool,
}

impl Office {
    /// Stops a running turn of an agent, on any node.
    pub async fn stop_turn(
        &self,
        scope: TenantScope,
        agent: AgentId,
        order: &StopOrder,
    ) -> Result<TurnStopView, OfficeError> {
        let report = self.desk.stopping.stop(Party { scope, agent }, order).await?;
        let StopReport { outcome, dropped } = report;
        Ok(TurnStopView { agent_id: agent, outcome: StopOutcome::slug(outcome), dropped })
    }

    /// Sets the permission of an agent to stop other agents.
    pub async fn set_stop_permission(
        &self,
        scope: TenantScope,
        agent: AgentId,
        permission: StopPermission,
    ) -> Result<StopPermissionView, OfficeError> {
        let StopPermission { stops_others } = permission;
        let store = self.desk.stops.register.store();
        if store.let_stop_others(scope, agent, stops_others).await? {
            return Ok(StopPermissionView { agent_id: agent, stops_others });
        }
        Err(OfficeError::NotFound(
            "the agent was removed; `nightdesk agent list` shows the others".to_owned(),
        ))
    }
}
