//! The shelf: skills and data that the agents of a tenant share.
//!
//! # Promise
//!
//! A caller sees the shelf of its own tenant and no other. A repeated request changes nothing and gets the same
//! response, so a client may retry a request that seems to have failed.

use std::fmt;
use std::sync::Arc;

use nightdesk_letters::Party;
use nightdesk_shelf::{
    CatalogueFilter, CatalogueResponse, DataStore, DataStoreError, DataWrite, DataWriteRecord,
    PortableData, QueryFilters, Records, SkillPatch, SkillSource, SkillStatus, SkillStore,
    SkillStoreError, Skills, TenantData, TenantSkills, VersionInfo, catalogue,
};
use nightdesk_types::TenantScope;
use serde::{Deserialize, Serialize};

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
    /// The skill's name.
    pub name: String,
    /// The version of the source.
    pub version: String,
    /// The approval status.
    pub status: SkillStatus,
    /// The source text.
    pub source: String,
}

/// A skill that an agent writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillWrite {
    /// The skill's name.
    pub name: String,
    /// The source text.
    pub source: String,
    /// True if the skill may replace an existing one.
    #[serde(default)]
    pub overwrite: bool,
}

/// The result of a write. The status may differ from the one in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillWriteReceipt {
    /// The skill's name.
    pub name: String,
    /// The new version.
    pub version: String,
    /// The digest of the source.
    pub content_hash: String,
    /// The approval status.
    pub status: SkillStatus,
    /// The time of the write.
    pub changed_at: i64,
}

impl Shelf {
    /// Creates the shelves over these stores.
    pub fn new(skills: Arc<dyn Skills>, records: Arc<dyn Records>) -> Self {
        Self { skills, records }
    }

    /// Returns the skills that an agent may use, or that the list has not changed since `if_none_match`.
    pub async fn skill_list(
        &self,
        Party { scope, .. }: Party,
        filter: &CatalogueFilter,
        if_none_match: Option<&str>,
    ) -> Result<CatalogueResponse, SkillStoreError> {
        let approval = self.skills.shelf(scope).await?.approval;
        catalogue(&self.skills(scope), &approval, filter, if_none_match).await
    }

    /// Returns a skill in its current version or an earlier one.
    pub async fn skill_read(
        &self,
        Party { scope, .. }: Party,
        name: &str,
        version: Option<&str>,
    ) -> Result<SkillRead, SkillStoreError> {
        let SkillSource { name, version, source, metadata, .. } =
            self.skills(scope).load(name, version).await?;
        Ok(SkillRead { name, version, status: metadata.status, source })
    }

    /// Returns the versions of a skill, newest first.
    pub async fn skill_versions(
        &self,
        Party { scope, .. }: Party,
        name: &str,
    ) -> Result<Vec<VersionInfo>, SkillStoreError> {
        self.skills(scope).versions(name).await
    }

    /// Stores a skill as the agent's. An existing skill is replaced only if `overwrite` is set or the source is the
    /// same.
    pub async fn skill_write(
        &self,
        Party { scope, agent }: Party,
        write: &SkillWrite,
    ) -> Result<SkillWriteReceipt, SkillStoreError> {
        let (author, only_new) = (Some(agent.to_string()), !write.overwrite);
        let patch = SkillPatch { author, only_new, ..SkillPatch::default() };
        let kept = self.skills(scope).store(&write.name, &write.source, &patch).await?;
        let VersionInfo { name, version, content_hash, status, changed_at, .. } = kept;
        Ok(SkillWriteReceipt { name, version, content_hash, status, changed_at })
    }

    /// Changes a skill's status. In secured mode, only a signed skill can be approved.
    pub async fn skill_status(
        &self,
        Party { scope, .. }: Party,
        name: &str,
        new_state: SkillStatus,
    ) -> Result<VersionInfo, SkillStoreError> {
        self.skills(scope).update_status(name, new_state).await
    }

    /// Returns the data that matches the filters, best first.
    pub async fn data_query(
        &self,
        caller: Party,
        filters: &QueryFilters,
    ) -> Result<Vec<PortableData>, DataStoreError> {
        self.data(caller).query(filters).await
    }

    /// Returns an entry of data.
    pub async fn data_read(
        &self,
        caller: Party,
        id: &str,
    ) -> Result<Option<PortableData>, DataStoreError> {
        self.data(caller).get(id).await
    }

    /// Stores an entry of data as the agent's.
    pub async fn data_write(
        &self,
        caller: Party,
        write: &DataWrite,
    ) -> Result<DataWriteRecord, DataStoreError> {
        self.data(caller).write(write).await
    }

    fn skills(&self, scope: TenantScope) -> TenantSkills {
        TenantSkills::new(Arc::clone(&self.skills), scope)
    }

    fn data(&self, Party { scope, agent }: Party) -> TenantData {
        TenantData::new(Arc::clone(&self.records), scope).with_writer(agent)
    }
}
