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
    Approval, CatalogueFilter, CatalogueResponse, DataStore, DataStoreError, DataWrite,
    DataWriteRecord, PortableData, QueryFilters, Records, SkillFilter, SkillMeta, SkillPatch,
    SkillSource, SkillStatus, SkillStore, SkillStoreError, Skills, TenantData, TenantSkills,
    VersionInfo, catalogue,
};
use nightdesk_types::{StoreError, TenantScope};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

/// The skills that match a filter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SkillQueryResult {
    /// The metadata of each skill, by name.
    pub skills: Vec<SkillMeta>,
    /// A token that changes with every change of any skill.
    pub version: Option<String>,
}

/// A skill that an agent writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillWrite {
    /// The skill's name.
    pub name: String,
    /// The source text.
    pub source: String,
    /// True if the skill may replace an existing one.
    #[serde(default)]
    pub overwrite: bool,
    /// The status, which overrides that of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SkillStatus>,
    /// Further metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_bag: Option<Map<String, Value>>,
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
        let approval = self.approval(scope).await?;
        catalogue(&self.skills(scope), &approval, filter, if_none_match).await
    }

    /// Returns the skills that match a filter of the contract, and the token of the store. A filter with the limit 0 reads
    /// the token alone.
    pub async fn skill_query(
        &self,
        Party { scope, .. }: Party,
        filter: &SkillFilter,
    ) -> Result<SkillQueryResult, SkillStoreError> {
        let store = self.skills(scope);
        // The token is read first: a change in between shows as a newer token in the next response.
        let version = store.version().await?;
        let skills = match filter.limit {
            Some(0) => Vec::new(),
            Some(_) | None => store.query(filter).await?,
        };
        Ok(SkillQueryResult { skills, version })
    }

    /// Returns a skill with its metadata, in its current version or an earlier one.
    pub async fn skill_load(
        &self,
        Party { scope, .. }: Party,
        name: &str,
        version: Option<&str>,
    ) -> Result<SkillSource, SkillStoreError> {
        self.skills(scope).load(name, version).await
    }

    /// Returns a skill in its current version or an earlier one, without its metadata.
    pub async fn skill_read(
        &self,
        caller: Party,
        name: &str,
        version: Option<&str>,
    ) -> Result<SkillRead, SkillStoreError> {
        let SkillSource { name, version, source, metadata, .. } =
            self.skill_load(caller, name, version).await?;
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
        let patch = SkillPatch {
            status: write.status,
            author: Some(agent.to_string()),
            metadata_bag: write.metadata_bag.clone(),
            only_new: !write.overwrite,
        };
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

    /// Returns the authority that approves a tenant's skills.
    pub async fn approval(&self, scope: TenantScope) -> Result<Approval, StoreError> {
        Ok(self.skills.shelf(scope).await?.approval)
    }

    /// Sets the authority that approves a tenant's skills.
    pub async fn secure(&self, scope: TenantScope, approval: &Approval) -> Result<(), StoreError> {
        self.skills.secure_shelf(scope, approval).await
    }

    /// Returns a tenant's skills, for the scope's actor.
    pub fn skills(&self, scope: TenantScope) -> TenantSkills {
        TenantSkills::new(Arc::clone(&self.skills), scope)
    }

    /// Returns a tenant's data, for the scope's actor.
    pub fn tenant_data(&self, scope: TenantScope) -> TenantData {
        TenantData::new(Arc::clone(&self.records), scope)
    }

    fn data(&self, Party { scope, agent }: Party) -> TenantData {
        self.tenant_data(scope).with_writer(agent)
    }
}
