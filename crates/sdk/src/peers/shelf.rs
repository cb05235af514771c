//! The shelf: skills and data that the agents of a tenant share.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{PeerError, Peers, escape_text};

/// The status of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SkillStatus {
    /// The skill is being written.
    Draft,
    /// The skill may be run.
    Approved,
    /// The skill may not be run any more.
    Disabled,
}

impl SkillStatus {
    const fn name(self) -> &'static str {
        match self {
            Self::Draft => "Draft",
            Self::Approved => "Approved",
            Self::Disabled => "Disabled",
        }
    }
}

/// Selects skills: by default all approved skills for agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a filter finds nothing by itself"]
pub struct SkillFilter(Vec<(&'static str, String)>);

impl SkillFilter {
    /// Only this status.
    pub fn status(self, status: SkillStatus) -> Self {
        self.with_parameter("status", status.name())
    }

    /// Only this audience: `agent`, `all` or `headless`.
    pub fn audience(self, audience: impl Into<String>) -> Self {
        self.with_parameter("audience", audience)
    }

    /// Only names with this prefix.
    pub fn name_prefix(self, prefix: impl Into<String>) -> Self {
        self.with_parameter("name_prefix", prefix)
    }

    /// Only this author: an agent's id.
    pub fn author(self, author: impl Into<String>) -> Self {
        self.with_parameter("author", author)
    }

    /// Only skills with any of these tags.
    pub fn domain_tags(self, tags: &[&str]) -> Self {
        self.with_parameter("domain_tags", tags.join(","))
    }

    /// Returns [`not_modified`](Catalogue::not_modified) if the catalogue with the same filter still has this version.
    pub fn if_none_match(self, catalog_version: impl Into<String>) -> Self {
        self.with_parameter("if_none_match", catalog_version)
    }

    fn with_parameter(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    fn path(&self) -> String {
        let said = self.0.iter().map(|(name, value)| format!("{name}={}", escape_text(value)));
        format!("/v1/skills?{}", said.collect::<Vec<_>>().join("&"))
    }
}

/// Skills, grouped by use.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Catalogue {
    /// Skills whose output goes to the agent.
    pub receives: Vec<SkillEntry>,
    /// Skills that the agent can use.
    pub skills: Vec<SkillEntry>,
    /// Skills that run without an agent.
    pub headless: Vec<SkillEntry>,
    /// The version of the whole catalogue, for this filter.
    pub catalog_version: Option<String>,
    /// True if the catalogue has not changed since the given version. The lists are empty then.
    pub not_modified: bool,
}

/// A skill in a catalogue.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SkillEntry {
    /// Its name.
    pub name: String,
    /// Its purpose.
    #[serde(default)]
    pub description: Option<String>,
    /// Further fields of the catalogue.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A skill to store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[must_use = "a skill is not kept until it is written"]
pub struct NewSkill {
    name: String,
    source: String,
    overwrite: bool,
}

impl NewSkill {
    /// Creates a skill of this name with these bytes: headers first.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self { name: name.into(), source: source.into(), overwrite: false }
    }

    /// Allows it to replace the agent's existing skill of that name.
    pub const fn overwriting(mut self) -> Self {
        self.overwrite = true;
        self
    }
}

/// The stored skill. Its status may differ from the one in the bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SkillWritten {
    /// Its name.
    pub name: String,
    /// The version of its bytes.
    pub version: String,
    /// The digest of its bytes.
    pub content_hash: String,
    /// Its status.
    pub status: SkillStatus,
}

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// The version of these bytes.
    pub version: String,
    /// Its status.
    pub status: SkillStatus,
    /// The bytes.
    pub source: String,
}

/// A change of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// Its name.
    pub name: String,
    /// The version of its bytes after the change.
    pub version: String,
    /// Its status after the change.
    pub status: SkillStatus,
    /// Its status before the change, if it changed.
    #[serde(default)]
    pub previous_status: Option<SkillStatus>,
    /// The author of the change, if known.
    #[serde(default)]
    pub changed_by: Option<String>,
}

/// Data to store.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[must_use = "data is not kept until it is written"]
pub struct NewData {
    content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recipients: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

impl NewData {
    /// Creates an entry with this text.
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            tags: Vec::new(),
            recipients: Vec::new(),
            expires_at: None,
            metadata: Map::new(),
        }
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Adds an intended recipient.
    pub fn recipient(mut self, agent: impl Into<String>) -> Self {
        self.recipients.push(agent.into());
        self
    }

    /// Hides the entry after this time, in seconds.
    pub const fn expires_at(mut self, secs: i64) -> Self {
        self.expires_at = Some(secs);
        self
    }

    /// Adds a metadata field.
    pub fn note(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }
}

/// The stored entry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct DataWritten {
    /// Its id.
    pub id: String,
    /// The time of creation, in seconds.
    pub created_at: i64,
}

/// A query for data.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[must_use = "a query finds nothing by itself"]
pub struct DataQuery {
    query: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    #[serde(flatten)]
    filters: Map<String, Value>,
}

impl DataQuery {
    /// Creates a query for entries with all of these words. Without words: the newest entries.
    pub fn new(words: impl Into<String>) -> Self {
        Self { query: words.into(), limit: None, filters: Map::new() }
    }

    /// Sets the maximum number of results.
    pub const fn limit(mut self, most: usize) -> Self {
        self.limit = Some(most);
        self
    }

    /// Adds a condition: `domain_tags`, `agent_id`, `pinned`. A filter that the desk cannot apply is refused.
    pub fn filter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.filters.insert(name.into(), value.into());
        self
    }
}

/// An entry of data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DataEntry {
    /// Its id.
    pub id: String,
    /// Its first line, shortened if needed.
    pub summary: String,
    /// The full text.
    #[serde(default)]
    pub detail: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Deserialize)]
struct DataPage {
    items: Vec<DataEntry>,
}

#[derive(Serialize)]
struct StatusChange {
    status: SkillStatus,
}

impl Peers {
    /// Returns the skills of the agent's tenant.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn skill_list(&self, filter: &SkillFilter) -> Result<Catalogue, PeerError> {
        self.get("list skills", &filter.path()).await
    }

    /// Returns a skill, in its current or an earlier version. `None`: it does not exist.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn skill_read(
        &self,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<Skill>, PeerError> {
        let version = version.map(|version| format!("?version={}", escape_text(version)));
        let path = format!("/v1/skills/{}{}", escape_text(name), version.unwrap_or_default());
        self.find("read a skill", &path).await
    }

    /// Returns the history of a skill, newest first. `None`: it does not exist.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn skill_versions(&self, name: &str) -> Result<Option<Vec<Change>>, PeerError> {
        self.find(
            "list the changes of a skill",
            &format!("/v1/skills/{}/versions", escape_text(name)),
        )
        .await
    }

    /// Stores a skill of the agent.
    ///
    /// # Errors
    ///
    /// The name is taken, the skill belongs to another author, the desk did not answer, or refused the call.
    pub async fn skill_write(&self, skill: &NewSkill) -> Result<SkillWritten, PeerError> {
        self.post("write a skill", "/v1/skills", skill).await
    }

    /// Changes a skill's status.
    ///
    /// # Errors
    ///
    /// The skill has no valid approval (`not-approved`), the desk did not answer, or refused the call.
    pub async fn skill_status(&self, name: &str, status: SkillStatus) -> Result<Change, PeerError> {
        let path = format!("/v1/skills/{}/status", escape_text(name));
        self.post("change the status of a skill", &path, &StatusChange { status }).await
    }

    /// Returns the matching data, the best match first.
    ///
    /// # Errors
    ///
    /// A filter is not supported, the desk did not answer, or refused the call.
    pub async fn data_query(&self, query: &DataQuery) -> Result<Vec<DataEntry>, PeerError> {
        self.post("query data", "/v1/data/query", query).await.map(|found: DataPage| found.items)
    }

    /// Returns an entry of data. `None`: it does not exist, or it expired.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn data_read(&self, id: &str) -> Result<Option<DataEntry>, PeerError> {
        self.find("read data", &format!("/v1/data/{}", escape_text(id))).await
    }

    /// Stores an entry of data of the agent.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn data_write(&self, data: &NewData) -> Result<DataWritten, PeerError> {
        self.post("write data", "/v1/data", data).await
    }
}
