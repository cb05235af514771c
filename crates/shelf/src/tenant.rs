//! Implements the contract for one tenant and one actor.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_types::{AgentId, TenantScope};

use crate::capability::{
    CONTRACT_VERSION, ConnectorType, DataFeatures, DataStoreManifest, ManifestInfo, SkillFeatures,
    SkillStoreManifest, StoreCapabilities,
};
use crate::contract::{DataStore, SkillStore};
use crate::data::{DataWrite, DataWriteRecord, PortableData, QueryFilters};
use crate::entry::{CURATED_FILTERS, DataQuery, NewData, READ_BY_WORDS};
use crate::error::{DataStoreError, SkillStoreError};
use crate::filter::page;
use crate::hash::token_of;
use crate::name::check_name;
use crate::skill::{SkillFilter, SkillMeta, SkillPatch, SkillSource, SkillStatus, VersionInfo};
use crate::store::{Records, Skills, writer};

const IMPLEMENTATION: &str = "nightdesk";

/// A tenant's skills.
#[derive(Clone)]
pub struct TenantSkills {
    store: Arc<dyn Skills>,
    scope: TenantScope,
}

/// A tenant's data.
#[derive(Clone)]
pub struct TenantData {
    store: Arc<dyn Records>,
    scope: TenantScope,
    writer: Option<String>,
}

impl TenantSkills {
    /// Creates the view of a tenant's skills for the scope's actor.
    pub fn new(store: Arc<dyn Skills>, scope: TenantScope) -> Self {
        Self { store, scope }
    }
}

impl TenantData {
    /// Creates the view of a tenant's data for the scope's actor.
    pub fn new(store: Arc<dyn Records>, scope: TenantScope) -> Self {
        Self { store, scope, writer: writer(scope.actor()) }
    }

    /// Sets an agent as the writer, independent of the actor.
    #[must_use]
    pub fn with_writer(self, agent: AgentId) -> Self {
        Self { writer: Some(agent.to_string()), ..self }
    }
}

#[async_trait]
impl SkillStore for TenantSkills {
    fn static_capabilities() -> StoreCapabilities<SkillFeatures> {
        StoreCapabilities {
            connector_type: ConnectorType::SkillStore,
            implementation: IMPLEMENTATION.to_owned(),
            contract_version: CONTRACT_VERSION.to_owned(),
            features: SkillFeatures::ALL,
        }
    }

    async fn load(
        &self,
        name: &str,
        version: Option<&str>,
    ) -> Result<SkillSource, SkillStoreError> {
        check_known(name)?;
        self.store.skill(self.scope, name, version).await?
    }

    async fn query(&self, filter: &SkillFilter) -> Result<Vec<SkillMeta>, SkillStoreError> {
        page(self.store.skills(self.scope).await?, filter)
    }

    async fn sources(&self, filter: &SkillFilter) -> Result<Vec<SkillSource>, SkillStoreError> {
        let mut all: HashMap<String, SkillSource> = self
            .store
            .skill_sources(self.scope)
            .await?
            .into_iter()
            .map(|skill| (skill.name.clone(), skill))
            .collect();
        let known = all.values().map(|skill| skill.metadata.clone()).collect();
        let wanted = page(known, filter)?;
        Ok(wanted.into_iter().filter_map(|skill| all.remove(&skill.name)).collect())
    }

    async fn metadata(&self, name: &str) -> Result<SkillMeta, SkillStoreError> {
        Ok(self.load(name, None).await?.metadata)
    }

    async fn versions(&self, name: &str) -> Result<Vec<VersionInfo>, SkillStoreError> {
        check_known(name)?;
        self.store.skill_versions(self.scope, name).await?
    }

    async fn store(
        &self,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<VersionInfo, SkillStoreError> {
        check_name(name)?;
        self.store.put_skill(self.scope, name, source, patch).await?
    }

    async fn delete(&self, name: &str) -> Result<(), SkillStoreError> {
        check_known(name)?;
        let was_there = self.store.delete_skill(self.scope, name).await?;
        was_there.then_some(()).ok_or_else(|| SkillStoreError::not_found(name))
    }

    async fn update_status(
        &self,
        name: &str,
        status: SkillStatus,
    ) -> Result<VersionInfo, SkillStoreError> {
        check_known(name)?;
        self.store.set_skill_status(self.scope, name, status).await?
    }

    async fn manifest(&self) -> Result<ManifestInfo<SkillStoreManifest>, SkillStoreError> {
        let manifest = SkillStoreManifest { kind: IMPLEMENTATION.to_owned(), ..<_>::default() };
        Ok(ManifestInfo { capabilities_version: CONTRACT_VERSION.to_owned(), manifest })
    }

    async fn version(&self) -> Result<Option<String>, SkillStoreError> {
        let revision = self.store.shelf(self.scope).await?.revision;
        Ok(Some(token_of(&format!("{}:{revision}", self.scope.tenant()))))
    }
}

/// Treats an invalid name as a missing skill.
fn check_known(name: &str) -> Result<(), SkillStoreError> {
    check_name(name).map_err(|_| SkillStoreError::not_found(name))
}

#[async_trait]
impl DataStore for TenantData {
    fn static_capabilities() -> StoreCapabilities<DataFeatures> {
        StoreCapabilities {
            connector_type: ConnectorType::DataStore,
            implementation: IMPLEMENTATION.to_owned(),
            contract_version: CONTRACT_VERSION.to_owned(),
            features: DataFeatures {
                supports_writes: true,
                supports_tag_filter: true,
                supports_thread_status_filter: true,
                supports_pinning: true,
                ..<_>::default()
            },
        }
    }

    async fn query(&self, filters: &QueryFilters) -> Result<Vec<PortableData>, DataStoreError> {
        let query = DataQuery::validate(filters, IMPLEMENTATION)?;
        Ok(self.store.query_data(self.scope, &query).await?)
    }

    async fn write(&self, write: &DataWrite) -> Result<DataWriteRecord, DataStoreError> {
        let new = NewData::validate(write, self.writer.as_deref())?;
        Ok(self.store.put_data(self.scope, &new).await?)
    }

    async fn get(&self, id: &str) -> Result<Option<PortableData>, DataStoreError> {
        // Every id is in hex, and a database would reject a zero byte.
        if !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        Ok(self.store.data(self.scope, id).await?)
    }

    async fn manifest(&self) -> Result<ManifestInfo<DataStoreManifest>, DataStoreError> {
        let manifest = DataStoreManifest {
            kind: IMPLEMENTATION.to_owned(),
            supported_modes: Some(vec![READ_BY_WORDS.to_owned()]),
            supported_filters: Some(CURATED_FILTERS.map(ToOwned::to_owned).to_vec()),
            score_range: Some((0.0, 1.0)),
            ..<_>::default()
        };
        Ok(ManifestInfo { capabilities_version: CONTRACT_VERSION.to_owned(), manifest })
    }
}
