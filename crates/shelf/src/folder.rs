//! A folder of skills: `NAME.skill.md` is the current version, and earlier versions are in `.shelf`.
//!
//! # Promise
//!
//! A file is replaced as a whole or not at all. A manual edit of a file changes the skill: the folder's token depends
//! on the content of the files, not on their times, and the next recorded change still knows the content that the edit
//! replaced.

mod files;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_types::limits::FOLDER_WAIT;
use nightdesk_types::{Clock, StoreError};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use self::files::{LockedFolder, SkillFolder};
use crate::approval::Approval;
use crate::capability::{
    CONTRACT_VERSION, ConnectorType, ManifestInfo, SkillFeatures, SkillStoreManifest,
    StoreCapabilities,
};
use crate::contract::SkillStore;
use crate::error::SkillStoreError;
use crate::filter::page;
use crate::hash::token_of;
use crate::name::{check_name, is_plain};
use crate::plan::{SkillDraft, plan, plan_status};
use crate::skill::{SkillFilter, SkillMeta, SkillPatch, SkillSource, SkillStatus, VersionInfo};
use crate::store::{Revision, RevisionStamp};

/// Skills in a folder.
#[derive(Clone)]
pub struct FolderSkills {
    folder: Arc<SkillFolder>,
    approval: Approval,
    clock: Arc<dyn Clock>,
}

impl FolderSkills {
    /// Opens a folder, and creates it if necessary.
    pub fn open(
        path: impl Into<PathBuf>,
        approval: Approval,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let room = SkillFolder::open(path.into())?;
        Ok(Self { folder: Arc::new(room), approval, clock })
    }

    /// Runs work in the folder under its lock, with a time limit.
    async fn run_locked<T: Send + 'static>(
        &self,
        work: impl FnOnce(&LockedFolder<'_>) -> Result<T, SkillStoreError> + Send + 'static,
    ) -> Result<T, SkillStoreError> {
        let room = Arc::clone(&self.folder);
        let done = spawn_blocking(move || work(&room.lock()?));
        let waited = timeout(FOLDER_WAIT, done).await.map_err(|_| SkillStoreError::Timeout {
            timeout_ms: u64::try_from(FOLDER_WAIT.as_millis()).unwrap_or(u64::MAX),
        })?;
        waited.map_err(|error| StoreError::broken("work in a folder of skills", error))?
    }

    fn now(&self) -> i64 {
        self.clock.now().as_second()
    }
}

#[async_trait]
impl SkillStore for FolderSkills {
    fn static_capabilities() -> StoreCapabilities<SkillFeatures> {
        StoreCapabilities {
            connector_type: ConnectorType::SkillStore,
            implementation: "folder".to_owned(),
            contract_version: CONTRACT_VERSION.to_owned(),
            features: SkillFeatures::ALL,
        }
    }

    async fn load(
        &self,
        name: &str,
        version: Option<&str>,
    ) -> Result<SkillSource, SkillStoreError> {
        let (name, version) = (name.to_owned(), version.map(ToOwned::to_owned));
        self.run_locked(move |folder| {
            let current = find_current(folder, &name)?;
            let Some(version) = version.filter(|version| *version != current.info.version) else {
                return Ok(current.into_source());
            };
            let old = folder.earlier(&current, &version)?;
            old.map(Revision::into_source)
                .ok_or_else(|| SkillStoreError::VersionNotFound { skill_name: name, version })
        })
        .await
    }

    async fn query(&self, filter: &SkillFilter) -> Result<Vec<SkillMeta>, SkillStoreError> {
        let filter = filter.clone();
        self.run_locked(move |folder| page(metas(folder)?, &filter)).await
    }

    async fn metadata(&self, name: &str) -> Result<SkillMeta, SkillStoreError> {
        let name = name.to_owned();
        self.run_locked(move |folder| Ok(find_current(folder, &name)?.meta())).await
    }

    async fn versions(&self, name: &str) -> Result<Vec<VersionInfo>, SkillStoreError> {
        let name = name.to_owned();
        self.run_locked(move |folder| {
            let current = find_current(folder, &name)?;
            let mut changes = folder.changes(&current)?;
            changes.reverse();
            Ok(changes)
        })
        .await
    }

    async fn store(
        &self,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<VersionInfo, SkillStoreError> {
        check_name(name)?;
        let (name, source, patch) = (name.to_owned(), source.to_owned(), patch.clone());
        let (approval, now) = (self.approval.clone(), self.now());
        self.run_locked(move |folder| {
            let before = folder.current(&name)?;
            let draft = SkillDraft { name: &name, source: &source, patch: &patch };
            let planned = plan(before.as_ref().map(|before| &before.skill), draft, &approval)?;
            if let Some(before) = before.as_ref().filter(|_| !planned.changes) {
                return Ok(before.info.clone());
            }
            let stamp = RevisionStamp { changed_at: now, changed_by: patch.author };
            let next = Revision::next(&name, planned, before.as_ref(), stamp);
            folder.put(before.as_ref(), &next)?;
            Ok(next.info)
        })
        .await
    }

    async fn delete(&self, name: &str) -> Result<(), SkillStoreError> {
        let name = name.to_owned();
        self.run_locked(move |folder| {
            find_current(folder, &name)?;
            Ok(folder.remove(&name)?)
        })
        .await
    }

    async fn update_status(
        &self,
        name: &str,
        status: SkillStatus,
    ) -> Result<VersionInfo, SkillStoreError> {
        let (name, approval, now) = (name.to_owned(), self.approval.clone(), self.now());
        self.run_locked(move |folder| {
            let before = find_current(folder, &name)?;
            let planned = plan_status(&name, &before.skill, status, &approval)?;
            if !planned.changes {
                return Ok(before.as_it_stands());
            }
            let stamp = RevisionStamp { changed_at: now, changed_by: None };
            let next = Revision::next(&name, planned, Some(&before), stamp);
            folder.put(Some(&before), &next)?;
            Ok(next.info)
        })
        .await
    }

    async fn manifest(&self) -> Result<ManifestInfo<SkillStoreManifest>, SkillStoreError> {
        let manifest = SkillStoreManifest {
            kind: "folder".to_owned(),
            root_dir: Some(self.folder.root().display().to_string()),
            ..<_>::default()
        };
        Ok(ManifestInfo { capabilities_version: CONTRACT_VERSION.to_owned(), manifest })
    }

    async fn version(&self) -> Result<Option<String>, SkillStoreError> {
        self.run_locked(|folder| {
            let mut seen: Vec<_> = metas(folder)?.iter().map(fingerprint).collect();
            seen.sort();
            Ok(Some(token_of(&seen.join("\n"))))
        })
        .await
    }
}

/// Returns the visible state of a skill: its bytes, its author and its metadata.
fn fingerprint(skill: &SkillMeta) -> String {
    let bag = skill.metadata_bag.as_ref().and_then(|bag| serde_json::to_string(bag).ok());
    format!("{}:{}:{:?}:{bag:?}", skill.name, skill.content_hash, skill.author)
}

fn find_current(folder: &LockedFolder<'_>, name: &str) -> Result<Revision, SkillStoreError> {
    let found = if is_plain(name) { folder.current(name)? } else { None };
    found.ok_or_else(|| SkillStoreError::not_found(name))
}

fn metas(folder: &LockedFolder<'_>) -> Result<Vec<SkillMeta>, SkillStoreError> {
    let mut metas = Vec::new();
    for name in folder.names()? {
        metas.extend(folder.current(&name)?.map(|current| current.meta()));
    }
    Ok(metas)
}
