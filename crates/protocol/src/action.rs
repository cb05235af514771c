//! A gateway's action, decoded into the desk's types.
//!
//! All ops of 0.19.0 and of the newest client are known here. The capabilities of a platform, not this module, decide
//! which ops it supports.

use std::borrow::Cow;

use nightdesk_types::Send;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

mod raw;
#[cfg(test)]
mod tests;

pub(crate) use raw::RawAction;
pub use raw::{CHUNKS_BYTES_MAX, METADATA_BYTES_MAX};

use crate::session_key::SessionKey;

/// A gateway's action.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An operation in a chat.
    Send(Send),
    /// A message with a capability that the desk holds for a session.
    FollowUp(FollowUp),
    /// An op of a newer contract.
    Unknown {
        /// Its name, truncated.
        op: String,
    },
    /// A known op without a required field, or a frame without an op.
    Malformed {
        /// The op's name; empty if it has none.
        op: String,
        /// The field that is absent or unusable.
        missing: &'static str,
    },
}

/// A message sent with a capability, such as the token of an interaction, that never reaches the gateway. It names a
/// session and no chat.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct FollowUp {
    /// The session whose capability is used.
    pub session_key: SessionKey,
    /// The kind of capability: `discord.interaction_token`.
    pub kind: String,
    /// The text.
    pub content: String,
    /// Further fields of the client.
    #[cfg_attr(feature = "openapi", schemars(default))]
    pub metadata: Map<String, Value>,
}

impl FollowUp {
    /// Returns the platform of the capability, if its kind names one.
    pub fn platform(&self) -> Option<&str> {
        self.kind.split_once('.').map(|(platform, _)| platform)
    }
}

impl Action {
    /// Returns the action of a frame without a usable one.
    pub(crate) const fn missing_action() -> Self {
        Self::Malformed { op: String::new(), missing: "action" }
    }
}

/// Encodes the SDK's actions. An unusable action is encoded as its op alone.
impl Serialize for Action {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Send(send) => send.serialize(to),
            Self::FollowUp(follow_up) => TaggedFollowUp { follow_up }.serialize(to),
            Self::Unknown { op } | Self::Malformed { op, missing: _ } => serialize_op(op, to),
        }
    }
}

/// A follow-up in the form of the other ops.
#[derive(Serialize)]
#[serde(tag = "op", rename = "follow_up")]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
struct TaggedFollowUp<'a> {
    #[serde(flatten)]
    follow_up: &'a FollowUp,
}

#[cfg(feature = "openapi")]
impl schemars::JsonSchema for Action {
    fn schema_name() -> Cow<'static, str> {
        "Action".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let send = generator.subschema_for::<Send>();
        let follow_up = crate::frame::schema::tagged::<TaggedFollowUp<'_>>("op", generator);
        schemars::json_schema!({ "anyOf": [send, follow_up] })
    }
}

fn serialize_op<S: Serializer>(op: &str, to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(1))?;
    map.serialize_entry("op", op)?;
    map.end()
}

/// Returns the scope of the chat that a client names. Clients before 0.19.0 call it a guild.
pub fn scope(metadata: &Map<String, Value>) -> Option<Cow<'_, str>> {
    id(metadata, "scope_id").or_else(|| id(metadata, "guild_id"))
}

/// Returns the thread that a client names.
pub fn thread(metadata: &Map<String, Value>) -> Option<Cow<'_, str>> {
    id(metadata, "thread_id")
}

/// Returns the person whom a client answers.
pub fn user(metadata: &Map<String, Value>) -> Option<Cow<'_, str>> {
    id(metadata, "user_id")
}

/// Returns the profile that a client names.
pub fn profile(metadata: &Map<String, Value>) -> Option<Cow<'_, str>> {
    id(metadata, "profile")
}

fn id<'a>(metadata: &'a Map<String, Value>, key: &str) -> Option<Cow<'a, str>> {
    match metadata.get(key)? {
        Value::String(id) if !id.is_empty() => Some(Cow::Borrowed(id)),
        Value::Number(id) if !id.is_f64() => Some(Cow::Owned(id.to_string())),
        Value::String(_)
        | Value::Number(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Array(_)
        | Value::Object(_) => None,
    }
}
