//! Receipts of deliveries.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::Millis;

/// The receipt of a delivered payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeliveryReceipt {
    /// The time of the delivery.
    pub delivered_at: Millis,
    /// The recipient's id of the delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_id: Option<String>,
    /// The session that received it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// True if it was accepted but not passed on to the agent.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub delivery_skipped: bool,
    /// Further information.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The receipt of a wake. If the agent was not woken, it still has the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WakeReceipt {
    /// The time of the wake.
    pub woken_at: Millis,
    /// True if the agent was really interrupted.
    pub woken: bool,
    /// The session that received it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Further information.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Options of a request with a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestResponseOpts {
    /// The time to wait for the reply, in milliseconds.
    pub timeout_ms: u64,
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ExchangeResponse))]
pub struct Response {
    /// The id of the request.
    pub correlation_id: String,
    /// The text.
    pub content: String,
    /// The time of the reply.
    pub sent_at: Millis,
    /// The agent that replied.
    pub agent_id: String,
}
