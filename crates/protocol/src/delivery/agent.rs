//! Agents as a connector tells of them, and what a connector can do.

use serde::{Deserialize, Serialize};

/// An agent that can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentDescriptor {
    /// Its address, without a session.
    pub agent_id: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// What can be done with it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<Ability>>,
}

/// What can be done with an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = AgentAbility))]
pub enum Ability {
    /// It takes payloads.
    Deliver,
    /// It can be interrupted.
    Wake,
    /// It takes what is to be known.
    Augment,
    /// It takes what is to be done.
    Template,
}

/// How it stands with an agent. Nothing depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AgentStatus {
    /// It is at work.
    Active,
    /// It is up.
    Idle,
    /// It must be woken.
    Asleep,
    /// Nobody knows.
    #[default]
    Unknown,
}

/// What a connector is and can do, whatever it is set up with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// `agent_connector`.
    pub connector_type: String,
    /// Which one it is.
    pub implementation: String,
    /// Of which version of the contract.
    pub contract_version: String,
    /// What it can do.
    pub features: Features,
}

/// What a connector can do. What is not said is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// Hands payloads over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver: Option<bool>,
    /// Interrupts agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<bool>,
    /// Knows its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_agents: Option<bool>,
    /// Knows how it stands with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_status: Option<bool>,
    /// Knows how it stands with itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check: Option<bool>,
    /// Waits for replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_response: Option<bool>,
}

impl Capabilities {
    /// Of a connector of this contract.
    pub fn of(implementation: &str, features: Features) -> Self {
        Self {
            connector_type: "agent_connector".to_owned(),
            implementation: implementation.to_owned(),
            contract_version: super::CONTRACT_VERSION.to_owned(),
            features,
        }
    }
}
