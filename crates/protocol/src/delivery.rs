//! Payloads between agents and their receipts (`AgentConnector` 1.0).
//!
//! Times are milliseconds. Unset fields are omitted, never `null`. Unknown fields are ignored, but an unknown kind of
//! payload is refused.

mod meta;
mod receipt;
mod wake;
mod agent;

use serde::{Deserialize, Serialize};

pub use agent::{AgentAbility, AgentDescriptor, AgentStatus, ConnectorCapabilities, Features};
pub use meta::{DeliveryOrigin, Meta, Millis, TriggerKind};
pub use receipt::{DeliveryReceipt, RequestResponseOpts, Response, WakeReceipt};
pub use wake::{WakeOpts, WakeRequest, When};

/// The version of the contract.
pub const CONTRACT_VERSION: &str = "1.0.0";

/// A payload for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DeliveryPayload))]
pub enum Payload {
    /// Information.
    Augment {
        /// The text.
        content: String,
        /// The origin of the payload.
        meta: Meta,
    },
    /// A task.
    Template {
        /// The text.
        prompt: String,
        /// The origin of the payload.
        meta: Meta,
    },
}

impl Payload {
    /// Returns the text.
    pub fn text(&self) -> &str {
        match self {
            Self::Augment { content: words, .. } | Self::Template { prompt: words, .. } => words,
        }
    }

    /// Returns the origin of the payload.
    pub const fn meta(&self) -> &Meta {
        match self {
            Self::Augment { meta, .. } | Self::Template { meta, .. } => meta,
        }
    }

    /// Returns the kind.
    pub const fn kind(&self) -> PayloadKind {
        match self {
            Self::Augment { .. } => PayloadKind::Augment,
            Self::Template { .. } => PayloadKind::Template,
        }
    }
}

/// The kinds of payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = PayloadKind))]
pub enum PayloadKind {
    /// Information.
    #[default]
    Augment,
    /// A task.
    Template,
}

nightdesk_types::slugs! {
    PayloadKind:
    Augment = "augment",
    Template = "template",
}

impl PayloadKind {
    /// Returns a payload of this kind.
    pub const fn make_payload(self, words: String, meta: Meta) -> Payload {
        match self {
            Self::Augment => Payload::Augment { content: words, meta },
            Self::Template => Payload::Template { prompt: words, meta },
        }
    }
}

/// A payload with its recipient, as a webhook receives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Delivery {
    /// The recipient.
    pub agent_id: String,
    /// The payload.
    #[serde(flatten)]
    pub payload: Payload,
}

#[cfg(test)]
mod tests;
