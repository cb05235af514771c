//! Meta: from where a payload comes.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Millis(pub i64);

impl<'de> Deserialize<'de> for Millis {
    /// Their number has no integers: one with a fraction is a moment too.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(from)?;
        #[expect(clippy::cast_possible_truncation, reason = "what is too large is the last moment")]
        let whole = number.as_i64().or_else(|| number.as_f64().map(|float| float as i64));
        whole.map(Self).ok_or_else(|| serde::de::Error::custom("not a time in milliseconds"))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What goes with every payload. Only who emits it makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DeliveryMeta))]
pub struct Meta {
    /// One for each emit, the same for all who get it: by this a repeat is recognised.
    pub dispatch_id: String,
    /// When it was emitted, by the clock of who did.
    pub sent_at: Millis,
    /// Who emitted it.
    pub origin: Origin,
    /// A label by which receivers sort. What it means is theirs to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// By what a reply finds who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

/// Who emitted something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DeliveryOrigin))]
pub struct Origin {
    /// The skill that emitted it.
    pub skill_name: String,
    /// The skill with which it all began, if that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_skill_name: Option<String>,
    /// How that one came to run.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub trigger_kind: TriggerKind,
    /// Who had it run, if that was proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_agent_id: Option<String>,
}

impl Origin {
    /// How a skill is called of which nothing is known.
    pub const ANONYMOUS: &str = "(anonymous)";

    /// Of an agent that says nothing of a skill.
    pub fn anonymous(caller_agent_id: Option<String>) -> Self {
        Self {
            skill_name: Self::ANONYMOUS.to_owned(),
            entry_skill_name: None,
            trigger_kind: TriggerKind::Agent,
            caller_agent_id,
        }
    }
}

/// How a skill came to run. The set is open: whatever word comes goes on as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// A clock struck.
    Cron,
    /// Something happened.
    Event,
    /// Somebody outside called.
    Webhook,
    /// An agent called.
    Agent,
    /// A person called, at a shell.
    Cli,
    /// A person called, on a page.
    Dashboard,
    /// It was called from within.
    Inline,
    /// A word that the contract does not have.
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

    /// The word for it.
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
