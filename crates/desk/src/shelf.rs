//! Shelf: what agents of a tenant share, for whoever asks on their behalf.
//!
//! # Promise
//!
//! Whoever asks sees the shelf of their own tenant and no other. What is asked a second time changes nothing
//! and gets the same answer, so that a client may repeat what it thinks failed.

use std::fmt;
use std::sync::Arc;

use nightdesk_shelf::{
    CatalogueFilter, DataStore, DataStoreError, DataWrite, DataWriteRecord, Listed, PortableData,
    QueryFilters, Records, SkillPatch, SkillSource, SkillStatus, SkillStore, SkillStoreError,
    Skills, TenantData, TenantSkills, VersionInfo, catalogue,
};
use nightdesk_types::{AgentId, TenantScope};
use serde::{Deserialize, Serialize};

/// Who asks: an agent, and whose it is.
pub type Asker = (TenantScope, AgentId);

/// The shelves of all tenants.
#[derive(Clone)]
pub struct Shelf {
    skills: Arc<dyn Skills>,
    records: Arc<dyn Records>,
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shelf")
    }
}

/// A skill, as an agent reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillRead {
    /// Its name.
    pub name: String,
    /// Which bytes these are.
    pub version: String,
    /// Whether it may be run.
    pub status: SkillStatus,
    /// The bytes.
    pub source: String,
}

/// What an agent wants to be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillWrite {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub source: String,
    /// Whether it may take the place of one that is there.
    #[serde(default)]
    pub overwrite: bool,
}

/// What was kept. Its status may be another than the bytes said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillWritten {
    /// Its name.
    pub name: String,
    /// Which bytes it has now.
    pub version: String,
    /// Their digest.
    pub content_hash: String,
    /// Whether it may be run.
    pub status: SkillStatus,
    /// When it was written.
    pub changed_at: i64,
}

impl Shelf {
    /// Shelves that are kept there.
    pub fn over(skills: Arc<dyn Skills>, records: Arc<dyn Records>) -> Self {
        Self { skills, records }
    }

    /// What an agent may do, or that nothing has changed since it last asked so.
    pub async fn skill_list(
        &self,
        (scope, _): Asker,
        filter: &CatalogueFilter,
        if_none_match: Option<&str>,
    ) -> Result<Listed, SkillStoreError> {
        let approval = self.skills.shelf(scope).await?.approval;
        catalogue(&self.skills(scope), &approval, filter, if_none_match).await
    }

    /// A skill, as it is or as it was.
    pub async fn skill_read(
        &self,
        (scope, _): Asker,
        name: &str,
        version: Option<&str>,
    ) -> Result<SkillRead, SkillStoreError> {
        let SkillSource { name, version, source, metadata, .. } =
            self.skills(scope).load(name, version).await?;
        Ok(SkillRead { name, version, status: metadata.status, source })
    }

    /// What became of a skill, the newest first.
    pub async fn skill_versions(
        &self,
        (scope, _): Asker,
        name: &str,
    ) -> Result<Vec<VersionInfo>, SkillStoreError> {
        self.skills(scope).versions(name).await
    }

    /// Keeps a skill as the agent's. One that is there is replaced only if that was said, or if it is the
    /// same.
    pub async fn skill_write(
        &self,
        (scope, agent): Asker,
        write: &SkillWrite,
    ) -> Result<SkillWritten, SkillStoreError> {
        let (author, only_new) = (Some(agent.to_string()), !write.overwrite);
        let patch = SkillPatch { author, only_new, ..SkillPatch::default() };
        let kept = self.skills(scope).store(&write.name, &write.source, &patch).await?;
        let VersionInfo { name, version, content_hash, status, changed_at, .. } = kept;
        Ok(SkillWritten { name, version, content_hash, status, changed_at })
    }

    /// Changes a skill's status. In secured mode only who signed it can have it approved.
    pub async fn skill_status(
        &self,
        (scope, _): Asker,
        name: &str,
        new_state: SkillStatus,
    ) -> Result<VersionInfo, SkillStoreError> {
        self.skills(scope).update_status(name, new_state).await
    }

    /// Data that passes, the best first.
    pub async fn data_query(
        &self,
        asker: Asker,
        filters: &QueryFilters,
    ) -> Result<Vec<PortableData>, DataStoreError> {
        self.data(asker).query(filters).await
    }

    /// An entry of data.
    pub async fn data_read(
        &self,
        asker: Asker,
        id: &str,
    ) -> Result<Option<PortableData>, DataStoreError> {
        self.data(asker).get(id).await
    }

    /// Keeps an entry of data as the agent's.
    pub async fn data_write(
        &self,
        asker: Asker,
        write: &DataWrite,
    ) -> Result<DataWriteRecord, DataStoreError> {
        self.data(asker).write(write).await
    }

    fn skills(&self, scope: TenantScope) -> TenantSkills {
        TenantSkills::of(Arc::clone(&self.skills), scope)
    }

    fn data(&self, (scope, agent): Asker) -> TenantData {
        TenantData::of(Arc::clone(&self.records), scope).written_by(agent)
    }
}
