//! A wake: asks an agent to look at a message now or later.

use std::ops::Not;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Meta, Millis};

/// The options of a wake.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WakeOpts {
    /// The message for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The time of the wake. Default: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub when: Option<When>,
    /// The session to wake. It overrides the session in the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Stop the turn on the sender's newest letter to the agent first. The contract does not define it.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub interrupt: bool,
    /// The origin. The contract does not define it; without it a repeat is not recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<Meta>>,
}

/// A wake with its recipient, as a webhook receives it. Other implementations send only the address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WakeRequest {
    /// The recipient.
    pub agent_id: String,
    /// The options.
    #[serde(flatten)]
    pub opts: WakeOpts,
}

/// The time of a wake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Now.
    #[default]
    Immediate,
    /// At this time.
    At(Millis),
}

const IMMEDIATE: &str = "immediate";

impl Serialize for When {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Immediate => to.serialize_str(IMMEDIATE),
            Self::At(at) => at.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            At(Millis),
            Word(String),
        }
        match Either::deserialize(from)? {
            Either::At(at) => Ok(Self::At(at)),
            Either::Word(word) if word == IMMEDIATE => Ok(Self::Immediate),
            Either::Word(_) => Err(D::Error::custom("when is \"immediate\" or milliseconds")),
        }
    }
}
