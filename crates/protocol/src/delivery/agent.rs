//! Agents and connectors as a connector describes them.

use serde::{Deserialize, Serialize};

/// A reachable agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentDescriptor {
    /// Its address, without a session.
    pub agent_id: String,
    /// The name of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// The agent's abilities, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<AgentAbility>>,
}

/// An ability of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = AgentAbility))]
pub enum AgentAbility {
    /// It takes payloads.
    Deliver,
    /// It can be interrupted.
    Wake,
    /// It takes information.
    Augment,
    /// It takes tasks.
    Template,
}

/// The status of an agent, for information only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AgentStatus {
    /// It is working.
    Active,
    /// It is up.
    Idle,
    /// It is asleep and must be woken.
    Asleep,
    /// The status is not known.
    #[default]
    Unknown,
}

/// The identity and features of a connector, independent of its configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectorCapabilities {
    /// `agent_connector`.
    pub connector_type: String,
    /// The name of the implementation.
    pub implementation: String,
    /// The version of the contract.
    pub contract_version: String,
    /// The features.
    pub features: Features,
}

/// The features of a connector. An unset feature is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// Delivers payloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver: Option<bool>,
    /// Interrupts agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<bool>,
    /// Lists its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_agents: Option<bool>,
    /// Reports the status of its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_status: Option<bool>,
    /// Reports its own health.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check: Option<bool>,
    /// Waits for replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_response: Option<bool>,
}

impl ConnectorCapabilities {
    /// Returns the capabilities of a connector of this contract.
    pub fn new(implementation: &str, features: Features) -> Self {
        Self {
            connector_type: "agent_connector".to_owned(),
            implementation: implementation.to_owned(),
            contract_version: super::CONTRACT_VERSION.to_owned(),
            features,
        }
    }
}
