//! The contract: what a store of skills and a store of data do.

use async_trait::async_trait;

use crate::capability::{
    Capabilities, DataFeatures, DataStoreManifest, ManifestInfo, SkillFeatures, SkillStoreManifest,
};
use crate::data::{DataWrite, DataWriteRecord, PortableData, QueryFilters};
use crate::error::{DataStoreError, SkillStoreError};
use crate::skill::{SkillFilter, SkillMeta, SkillPatch, SkillSource, SkillStatus, VersionInfo};

/// Keeps skills, by name.
#[async_trait]
pub trait SkillStore: Send + Sync {
    /// What is true of every store of this kind.
    fn static_capabilities() -> Capabilities<SkillFeatures>
    where
        Self: Sized;

    /// A skill, as it is or as it was.
    async fn load(&self, name: &str, version: Option<&str>)
    -> Result<SkillSource, SkillStoreError>;

    /// What is known of the skills that pass, by name. None is an answer.
    async fn query(&self, filter: &SkillFilter) -> Result<Vec<SkillMeta>, SkillStoreError>;

    /// The skills that pass, by name, as they are.
    async fn sources(&self, filter: &SkillFilter) -> Result<Vec<SkillSource>, SkillStoreError> {
        let mut found = Vec::new();
        for skill in self.query(filter).await? {
            match self.load(&skill.name, None).await {
                Ok(skill) => found.push(skill),
                // Removed in between.
                Err(SkillStoreError::SkillNotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// What is known of one.
    async fn metadata(&self, name: &str) -> Result<SkillMeta, SkillStoreError>;

    /// What became of one, the newest first.
    async fn versions(&self, name: &str) -> Result<Vec<VersionInfo>, SkillStoreError>;

    /// Keeps a skill. It stays its first author's; one that is there keeps its status unless the patch
    /// says otherwise. What is there already, and the same, is not changed.
    async fn store(
        &self,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<VersionInfo, SkillStoreError>;

    /// Removes a skill for good, with all that it was. Its name is free then.
    async fn delete(&self, name: &str) -> Result<(), SkillStoreError>;

    /// Changes a skill's status, also in its bytes. The answer says what it was.
    async fn update_status(
        &self,
        name: &str,
        status: SkillStatus,
    ) -> Result<VersionInfo, SkillStoreError>;

    /// What this store says of itself.
    async fn manifest(&self) -> Result<ManifestInfo<SkillStoreManifest>, SkillStoreError>;

    /// Stands for all that can be seen of the store, and moves whenever that does. Not every store has
    /// one.
    async fn version(&self) -> Result<Option<String>, SkillStoreError> {
        Ok(None)
    }
}

/// Keeps data, and finds it again.
#[async_trait]
pub trait DataStore: Send + Sync {
    /// What is true of every store of this kind.
    fn static_capabilities() -> Capabilities<DataFeatures>
    where
        Self: Sized;

    /// What passes, the best first. None is an answer; a filter that is not kept is an error.
    async fn query(&self, filters: &QueryFilters) -> Result<Vec<PortableData>, DataStoreError>;

    /// Keeps an entry. Written again by the same author, it is the one that was written.
    async fn write(&self, write: &DataWrite) -> Result<DataWriteRecord, DataStoreError>;

    /// One entry. None is an answer.
    async fn get(&self, id: &str) -> Result<Option<PortableData>, DataStoreError>;

    /// What this store says of itself.
    async fn manifest(&self) -> Result<ManifestInfo<DataStoreManifest>, DataStoreError>;
}
