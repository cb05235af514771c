//! The contract's types of skills. Times are in seconds.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The status of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SkillStatus {
    /// Not approved yet.
    Draft,
    /// May be run.
    Approved,
    /// No longer in use.
    Disabled,
}

impl SkillStatus {
    /// All statuses.
    pub const ALL: [Self; 3] = [Self::Draft, Self::Approved, Self::Disabled];

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "Draft",
            Self::Approved => "Approved",
            Self::Disabled => "Disabled",
        }
    }

    /// Returns the status with exactly this name.
    pub fn from_exact(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Returns the status of a header, in any case.
    pub fn from_header(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for SkillStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The type of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillType {
    /// A procedure.
    Procedural,
    /// Text for other skills.
    Data,
}

/// A trigger in a skill's header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillTrigger {
    /// The kind: `cron`, `event` or any other word.
    pub source: String,
    /// The time or the event.
    pub name: String,
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// The metadata of a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillMeta {
    /// The name.
    pub name: String,
    /// The version name of the bytes.
    pub version: String,
    /// The digest of the bytes as stored.
    pub content_hash: String,
    /// The status.
    pub status: SkillStatus,
    /// The time when the name was first used.
    pub created_at: i64,
    /// The time of the last change.
    pub updated_at: i64,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vars: Option<Vec<String>>,
    /// The return values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Vec<String>>,
    /// The requirements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<Vec<String>>,
    /// The triggers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggers: Option<Vec<SkillTrigger>>,
    /// The targets of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<String>>,
    /// The type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<SkillType>,
    /// The time of the last change of status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_changed_at: Option<i64>,
    /// The author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Further metadata of the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_bag: Option<Map<String, Value>>,
}

/// A skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillSource {
    /// The name.
    pub name: String,
    /// The version name of the bytes.
    pub version: String,
    /// The digest of the bytes.
    pub content_hash: String,
    /// The bytes.
    pub source: String,
    /// The metadata.
    pub metadata: SkillMeta,
}

/// A change of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionInfo {
    /// The skill's name.
    pub name: String,
    /// The version name of the new bytes.
    pub version: String,
    /// The digest of the new bytes.
    pub content_hash: String,
    /// The new status.
    pub status: SkillStatus,
    /// The previous status, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_status: Option<SkillStatus>,
    /// The time.
    pub changed_at: i64,
    /// The author of the change, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<String>,
}

/// Properties of a write besides the bytes. Properties in the header are parsed from the bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillPatch {
    /// The status, which overrides that of the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SkillStatus>,
    /// The author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Further metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_bag: Option<Map<String, Value>>,
    /// True if the write must not replace a different skill. This is not part of the contract.
    #[serde(skip)]
    pub only_new: bool,
}

/// One value, or any of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One value.
    One(T),
    /// Several values.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// Returns all values.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// A filter of skills. Unknown fields are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillFilter {
    /// Any of these statuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OneOrMany<SkillStatus>>,
    /// The type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<SkillType>,
    /// All of these tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<OneOrMany<String>>,
    /// The author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Changed at this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// A regular expression that matches a part of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_pattern: Option<String>,
    /// Maximum number of results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Number of results to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
