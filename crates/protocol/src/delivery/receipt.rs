//! Receipts: what came of handing something over.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::Millis;

/// A payload was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeliveryReceipt {
    /// When it was taken.
    pub delivered_at: Millis,
    /// What whoever took it calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_id: Option<String>,
    /// The session that it went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// It was taken, and not passed on to the agent.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub delivery_skipped: bool,
    /// What else is to be known of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// An agent was woken, or was not and has what it was to be woken with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WakeReceipt {
    /// When that was.
    pub woken_at: Millis,
    /// Whether the agent was really interrupted.
    pub woken: bool,
    /// The session that it went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What else is to be known of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// For how long somebody waits for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestResponseOpts {
    /// So long.
    pub timeout_ms: u64,
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ExchangeResponse))]
pub struct Response {
    /// By what it found who asked.
    pub correlation_id: String,
    /// What it says.
    pub content: String,
    /// When it was said.
    pub sent_at: Millis,
    /// Who said it.
    pub agent_id: String,
}
