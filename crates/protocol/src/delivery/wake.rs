//! Wake: an agent is asked to look at something now, or later.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Meta, Millis};

/// With what an agent is woken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WakeOpts {
    /// What it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// When. At once, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub when: Option<When>,
    /// Which session of it. This counts more than one that stands in the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// From where it comes. The contract has nothing of it; without it a repeat is not recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<Meta>>,
}

/// A wake with whom it is for, as a webhook gets it. Others send nothing but the address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WakeRequest {
    /// Whom.
    pub agent_id: String,
    /// With what.
    #[serde(flatten)]
    pub opts: WakeOpts,
}

/// When somebody is woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Now.
    #[default]
    Immediate,
    /// Then.
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
