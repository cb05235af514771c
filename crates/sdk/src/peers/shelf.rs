//! The shelf: skills and data that the agents of a tenant share.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{PeerError, Peers, escaped};

/// Whether a skill may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SkillStatus {
    /// It is being written.
    Draft,
    /// It may.
    Approved,
    /// It may not any more.
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

/// Which skills are meant: all that are approved and for agents, unless something else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a filter finds nothing by itself"]
pub struct SkillFilter(Vec<(&'static str, String)>);

impl SkillFilter {
    /// Of this status.
    pub fn status(self, status: SkillStatus) -> Self {
        self.and("status", status.name())
    }

    /// For whom: `agent`, `all` or `headless`.
    pub fn audience(self, audience: impl Into<String>) -> Self {
        self.and("audience", audience)
    }

    /// Whose name begins so.
    pub fn name_prefix(self, prefix: impl Into<String>) -> Self {
        self.and("name_prefix", prefix)
    }

    /// Of this author: an agent's id.
    pub fn author(self, author: impl Into<String>) -> Self {
        self.and("author", author)
    }

    /// Filed under any of these.
    pub fn domain_tags(self, tags: &[&str]) -> Self {
        self.and("domain_tags", tags.join(","))
    }

    /// Says [`not_modified`](Catalogue::not_modified) if the catalogue is still the one that had this version, with the
    /// same filter.
    pub fn if_none_match(self, catalog_version: impl Into<String>) -> Self {
        self.and("if_none_match", catalog_version)
    }

    fn and(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    fn path(&self) -> String {
        let said = self.0.iter().map(|(name, value)| format!("{name}={}", escaped(value)));
        format!("/v1/skills?{}", said.collect::<Vec<_>>().join("&"))
    }
}

/// Skills, grouped by what an agent does with them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Catalogue {
    /// What the agent is told.
    pub receives: Vec<SkillEntry>,
    /// What the agent can do.
    pub skills: Vec<SkillEntry>,
    /// What runs by itself.
    pub headless: Vec<SkillEntry>,
    /// Stands for all of it, for this filter.
    pub catalog_version: Option<String>,
    /// Whether nothing has changed since the version that was asked about. Then nothing else is told.
    pub not_modified: bool,
}

/// A skill in a catalogue.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SkillEntry {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// What else the catalogue says of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A skill to keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[must_use = "a skill is not kept until it is written"]
pub struct NewSkill {
    name: String,
    source: String,
    overwrite: bool,
}

impl NewSkill {
    /// One of this name, with these bytes: headers first.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self { name: name.into(), source: source.into(), overwrite: false }
    }

    /// It may take the place of another of the agent's of that name.
    pub const fn overwriting(mut self) -> Self {
        self.overwrite = true;
        self
    }
}

/// What was kept. Its status may be another than the bytes said.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SkillWritten {
    /// Its name.
    pub name: String,
    /// Which bytes it has now.
    pub version: String,
    /// Their digest.
    pub content_hash: String,
    /// Whether it may be run.
    pub status: SkillStatus,
}

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// Which bytes these are.
    pub version: String,
    /// Whether it may be run.
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
    /// Which bytes it had from then on.
    pub version: String,
    /// Its status from then on.
    pub status: SkillStatus,
    /// Its status before, if that changed.
    #[serde(default)]
    pub previous_status: Option<SkillStatus>,
    /// By whom, if that is known.
    #[serde(default)]
    pub changed_by: Option<String>,
}

/// Data to keep.
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
    /// An entry that says this.
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            tags: Vec::new(),
            recipients: Vec::new(),
            expires_at: None,
            metadata: Map::new(),
        }
    }

    /// Filed under this, too.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Meant for this one, too.
    pub fn recipient(mut self, agent: impl Into<String>) -> Self {
        self.recipients.push(agent.into());
        self
    }

    /// Is not shown after this time, in seconds.
    pub const fn expires_at(mut self, secs: i64) -> Self {
        self.expires_at = Some(secs);
        self
    }

    /// Notes this besides.
    pub fn note(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct DataWritten {
    /// Its id.
    pub id: String,
    /// When, in seconds.
    pub created_at: i64,
}

/// Which data is meant.
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
    /// With all of these words. None: the newest.
    pub fn new(words: impl Into<String>) -> Self {
        Self { query: words.into(), limit: None, filters: Map::new() }
    }

    /// At most so many.
    pub const fn limit(mut self, most: usize) -> Self {
        self.limit = Some(most);
        self
    }

    /// And this must be so: `domain_tags`, `agent_id`, `pinned`. One that the desk does not keep is refused.
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
    /// Its first line, or what fits of it.
    pub summary: String,
    /// All of it.
    #[serde(default)]
    pub detail: Option<String>,
    /// What else is known of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Deserialize)]
struct Found {
    items: Vec<DataEntry>,
}

#[derive(Serialize)]
struct ToStatus {
    status: SkillStatus,
}

impl Peers {
    /// The skills of the agent's tenant.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn skill_list(&self, filter: &SkillFilter) -> Result<Catalogue, PeerError> {
        self.get("list skills", &filter.path()).await
    }

    /// A skill, as it is, or as it was at a version. `None`: there is none.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn skill_read(
        &self,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<Skill>, PeerError> {
        let version = version.map(|version| format!("?version={}", escaped(version)));
        let path = format!("/v1/skills/{}{}", escaped(name), version.unwrap_or_default());
        self.find("read a skill", &path).await
    }

    /// What became of a skill, the newest first. `None`: there is none.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn skill_versions(&self, name: &str) -> Result<Option<Vec<Change>>, PeerError> {
        self.find("look what became of a skill", &format!("/v1/skills/{}/versions", escaped(name)))
            .await
    }

    /// Keeps a skill as the agent's.
    ///
    /// # Errors
    ///
    /// There is another of that name, it is somebody else's, the desk did not answer, or said no.
    pub async fn skill_write(&self, skill: &NewSkill) -> Result<SkillWritten, PeerError> {
        self.post("write a skill", "/v1/skills", skill).await
    }

    /// Changes a skill's status.
    ///
    /// # Errors
    ///
    /// Nobody vouches for it (`not-approved`), the desk did not answer, or said no.
    pub async fn skill_status(&self, name: &str, status: SkillStatus) -> Result<Change, PeerError> {
        let path = format!("/v1/skills/{}/status", escaped(name));
        self.post("change the status of a skill", &path, &ToStatus { status }).await
    }

    /// Data that passes, the best first.
    ///
    /// # Errors
    ///
    /// A filter is not kept, the desk did not answer, or said no.
    pub async fn data_query(&self, query: &DataQuery) -> Result<Vec<DataEntry>, PeerError> {
        self.post("look for data", "/v1/data/query", query).await.map(|found: Found| found.items)
    }

    /// An entry of data. `None`: there is none, or its time is over.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn data_read(&self, id: &str) -> Result<Option<DataEntry>, PeerError> {
        self.find("read data", &format!("/v1/data/{}", escaped(id))).await
    }

    /// Keeps an entry of data as the agent's.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn data_write(&self, data: &NewData) -> Result<DataWritten, PeerError> {
        self.post("write data", "/v1/data", data).await
    }
}
