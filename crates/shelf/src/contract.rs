//! The contract of a store of skills and of a store of data.

use async_trait::async_trait;

use crate::capability::{
    DataFeatures, DataStoreManifest, ManifestInfo, SkillFeatures, SkillStoreManifest,
    StoreCapabilities,
};
use crate::data::{DataWrite, DataWriteRecord, PortableData, QueryFilters};
use crate::error::{DataStoreError, SkillStoreError};
use crate::skill::{SkillFilter, SkillMeta, SkillPatch, SkillSource, SkillStatus, VersionInfo};

/// Stores skills by name.
#[async_trait]
pub trait SkillStore: Send + Sync {
    /// Returns the static capabilities of the implementation.
    fn static_capabilities() -> StoreCapabilities<SkillFeatures>
    where
        Self: Sized;

    /// Returns a skill, in its current or an earlier version.
    async fn load(&self, name: &str, version: Option<&str>)
    -> Result<SkillSource, SkillStoreError>;

    /// Returns the metadata of the matching skills, by name. The list may be empty.
    async fn query(&self, filter: &SkillFilter) -> Result<Vec<SkillMeta>, SkillStoreError>;

    /// Returns the matching skills, by name, in their current version.
    async fn sources(&self, filter: &SkillFilter) -> Result<Vec<SkillSource>, SkillStoreError> {
        let mut found = Vec::new();
        for skill in self.query(filter).await? {
            match self.load(&skill.name, None).await {
                Ok(skill) => found.push(skill),
                // The skill was removed in the meantime.
                Err(SkillStoreError::SkillNotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Returns the metadata of one skill.
    async fn metadata(&self, name: &str) -> Result<SkillMeta, SkillStoreError>;

    /// Returns the changes of a skill, newest first.
    async fn versions(&self, name: &str) -> Result<Vec<VersionInfo>, SkillStoreError>;

    /// Stores a skill: its bytes as they are, and the status that they say unless the patch sets one. It belongs to its
    /// first author. An identical write changes nothing.
    async fn store(
        &self,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<VersionInfo, SkillStoreError>;

    /// Removes a skill and its history permanently. The name is free afterwards.
    async fn delete(&self, name: &str) -> Result<(), SkillStoreError>;

    /// Changes a skill's status, also in its bytes. The result contains the previous status.
    async fn update_status(
        &self,
        name: &str,
        status: SkillStatus,
    ) -> Result<VersionInfo, SkillStoreError>;

    /// Returns the description of this store.
    async fn manifest(&self) -> Result<ManifestInfo<SkillStoreManifest>, SkillStoreError>;

    /// Returns a token that changes with everything visible in the store. Not every store has one.
    async fn version(&self) -> Result<Option<String>, SkillStoreError> {
        Ok(None)
    }
}

/// Stores data and finds it again.
#[async_trait]
pub trait DataStore: Send + Sync {
    /// Returns the static capabilities of the implementation.
    fn static_capabilities() -> StoreCapabilities<DataFeatures>
    where
        Self: Sized;

    /// Returns the matching entries, best first. The list may be empty; an unsupported filter is an error.
    async fn query(&self, filters: &QueryFilters) -> Result<Vec<PortableData>, DataStoreError>;

    /// Stores an entry. A second identical write by the same author returns the first entry.
    async fn write(&self, write: &DataWrite) -> Result<DataWriteRecord, DataStoreError>;

    /// Returns one entry, or `None`.
    async fn get(&self, id: &str) -> Result<Option<PortableData>, DataStoreError>;

    /// Returns the description of this store.
    async fn manifest(&self) -> Result<ManifestInfo<DataStoreManifest>, DataStoreError>;
}
