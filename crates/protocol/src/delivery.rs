//! Delivery: what one agent hands to another, and what is answered (`AgentConnector` 1.0).
//!
//! Times are milliseconds. What is not set is left out, never `null`; what is not known is passed over, but for
//! a kind of payload that nobody here can carry: that is refused.

mod meta;
mod receipt;
mod wake;
mod agent;

use serde::{Deserialize, Serialize};

pub use agent::{Ability, AgentDescriptor, AgentStatus, Capabilities, Features};
pub use meta::{Meta, Millis, Origin, TriggerKind};
pub use receipt::{DeliveryReceipt, RequestResponseOpts, Response, WakeReceipt};
pub use wake::{WakeOpts, WakeRequest, When};

/// The version of the contract that these are of.
pub const CONTRACT_VERSION: &str = "1.0.0";

/// What is handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DeliveryPayload))]
pub enum Payload {
    /// Something to know.
    Augment {
        /// What.
        content: String,
        /// From where it comes.
        meta: Meta,
    },
    /// Something to do.
    Template {
        /// What.
        prompt: String,
        /// From where it comes.
        meta: Meta,
    },
}

impl Payload {
    /// What it says.
    pub fn words(&self) -> &str {
        match self {
            Self::Augment { content: words, .. } | Self::Template { prompt: words, .. } => words,
        }
    }

    /// From where it comes.
    pub const fn meta(&self) -> &Meta {
        match self {
            Self::Augment { meta, .. } | Self::Template { meta, .. } => meta,
        }
    }

    /// Of which kind it is.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Augment { .. } => Kind::Augment,
            Self::Template { .. } => Kind::Template,
        }
    }
}

/// The kinds of payload there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = PayloadKind))]
pub enum Kind {
    /// Something to know.
    #[default]
    Augment,
    /// Something to do.
    Template,
}

impl Kind {
    /// Its name on the wire and in rows.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Augment => "augment",
            Self::Template => "template",
        }
    }

    /// The one of this name.
    pub fn named(slug: &str) -> Option<Self> {
        [Self::Augment, Self::Template].into_iter().find(|kind| kind.slug() == slug)
    }

    /// A payload of this kind.
    pub const fn of(self, words: String, meta: Meta) -> Payload {
        match self {
            Self::Augment => Payload::Augment { content: words, meta },
            Self::Template => Payload::Template { prompt: words, meta },
        }
    }
}

/// A payload with whom it is for, as a webhook gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Delivery {
    /// For whom.
    pub agent_id: String,
    /// What.
    #[serde(flatten)]
    pub payload: Payload,
}

#[cfg(test)]
mod tests;
