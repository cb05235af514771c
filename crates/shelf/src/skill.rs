//! Skills, in the words of the contract. Times are seconds.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Whether a skill may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SkillStatus {
    /// Not yet.
    Draft,
    /// Yes.
    Approved,
    /// Not any more.
    Disabled,
}

impl SkillStatus {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Draft, Self::Approved, Self::Disabled];

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "Draft",
            Self::Approved => "Approved",
            Self::Disabled => "Disabled",
        }
    }

    /// The one that is written so, exactly.
    pub fn exact(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// The one that a header means, in whatever case.
    pub fn in_header(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for SkillStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a skill is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillType {
    /// Something to do.
    Procedural,
    /// Something to put into others.
    Data,
}

/// What starts a skill, as its header says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillTrigger {
    /// Of what kind: `cron`, `event`, or what else somebody wrote.
    pub source: String,
    /// When, or by what.
    pub name: String,
    /// For whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// What is known of a skill besides its bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillMeta {
    /// Its name.
    pub name: String,
    /// Which bytes it has, in short.
    pub version: String,
    /// The digest of its bytes as they are kept.
    pub content_hash: String,
    /// Whether it may be run.
    pub status: SkillStatus,
    /// When there was none of this name before.
    pub created_at: i64,
    /// When it was last changed.
    pub updated_at: i64,
    /// What it says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is filed under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// What it wants to be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vars: Option<Vec<String>>,
    /// What it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Vec<String>>,
    /// What it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<Vec<String>>,
    /// What starts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggers: Option<Vec<SkillTrigger>>,
    /// Where what it says goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<String>>,
    /// What it is.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<SkillType>,
    /// When its status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_changed_at: Option<i64>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// What else its author noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_bag: Option<Map<String, Value>>,
}

/// A skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillSource {
    /// Its name.
    pub name: String,
    /// Which bytes these are, in short.
    pub version: String,
    /// Their digest.
    pub content_hash: String,
    /// The bytes.
    pub source: String,
    /// What is known besides.
    pub metadata: SkillMeta,
}

/// One change of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionInfo {
    /// The skill.
    pub name: String,
    /// Which bytes it had from then on, in short.
    pub version: String,
    /// Their digest.
    pub content_hash: String,
    /// Its status from then on.
    pub status: SkillStatus,
    /// Its status before, if that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_status: Option<SkillStatus>,
    /// When.
    pub changed_at: i64,
    /// By whom, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<String>,
}

/// What a writer says besides the bytes. What the bytes themselves say is read out of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillPatch {
    /// The status it shall have, whatever the bytes say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SkillStatus>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// What else to note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_bag: Option<Map<String, Value>>,
    /// Whether it must leave one alone that is there and another. The contract has no word for it.
    #[serde(skip)]
    pub only_new: bool,
}

/// One, or any of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// Which skills are asked for. Open: what is not known here is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillFilter {
    /// Of any of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OneOrMany<SkillStatus>>,
    /// Of this kind.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<SkillType>,
    /// Filed under all of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<OneOrMany<String>>,
    /// Of this author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Changed then or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Whose name this regular expression finds something in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_pattern: Option<String>,
    /// At most so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Without the first so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// What else was said.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
