//! The origin of a payload.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Millis(pub i64);

impl<'de> Deserialize<'de> for Millis {
    /// Accepts numbers with a fraction: the contract's number type has no integers.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(from)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a value that is too large becomes the last moment"
        )]
        let whole = number.as_i64().or_else(|| number.as_f64().map(|float| float as i64));
        whole.map(Self).ok_or_else(|| serde::de::Error::custom("not a time in milliseconds"))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The metadata of every payload. Only its sender sets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DeliveryMeta))]
pub struct Meta {
    /// The id of the emit, the same for all recipients; it identifies a repeat.
    pub dispatch_id: String,
    /// The time of the emit, by the sender's clock.
    pub sent_at: Millis,
    /// The run that emitted it, as the sending runtime reports it.
    pub origin: DeliveryOrigin,
    /// The sender that the desk has proven. The desk sets it, also if a request has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// A label by which recipients sort. Recipients define its meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// The id by which a reply finds its request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

/// The run that emitted a payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DeliveryOrigin))]
pub struct DeliveryOrigin {
    /// The skill that emitted it.
    pub skill_name: String,
    /// The skill that started the chain, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_skill_name: Option<String>,
    /// The trigger of that skill.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub trigger_kind: TriggerKind,
    /// The caller that fired the first skill of the chain, if the runtime has verified one. Composition does not change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_agent_id: Option<String>,
}

impl DeliveryOrigin {
    /// The name of an unknown skill.
    pub const ANONYMOUS: &str = "(anonymous)";

    /// Returns the origin of an agent that names no skill.
    pub fn anonymous(caller_agent_id: Option<String>) -> Self {
        Self {
            skill_name: Self::ANONYMOUS.to_owned(),
            entry_skill_name: None,
            trigger_kind: TriggerKind::Agent,
            caller_agent_id,
        }
    }

    /// Returns true if it names a skill.
    pub fn is_of_skill(&self) -> bool {
        self.skill_name != Self::ANONYMOUS
    }
}

/// The trigger of a skill. The set is open: an unknown word is passed on unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// A schedule.
    Cron,
    /// An event.
    Event,
    /// A call from outside.
    Webhook,
    /// A call of an agent.
    Agent,
    /// A person's command in a shell.
    Cli,
    /// A person's action on a page.
    Dashboard,
    /// A call from within.
    Inline,
    /// A word that is not in the contract.
    Other(String),
}

impl TriggerKind {
    const KNOWN: [Self; 7] = [
        Self::Cron,
        Self::Event,
        Self::Webhook,
        Self::Agent,
        Self::Cli,
        Self::Dashboard,
        Self::Inline,
    ];

    /// Returns the word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cron => "cron",
            Self::Event => "event",
            Self::Webhook => "webhook",
            Self::Agent => "agent",
            Self::Cli => "cli",
            Self::Dashboard => "dashboard",
            Self::Inline => "inline",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for TriggerKind {
    fn from(word: String) -> Self {
        let known = Self::KNOWN.into_iter().find(|kind| kind.as_str() == word);
        known.unwrap_or(Self::Other(word))
    }
}

impl Serialize for TriggerKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for TriggerKind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::from)
    }
}
