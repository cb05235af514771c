//! Faulty stores of skills.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a fault changes one thing, and all the others leave it as it is"
)]

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use nightdesk_shelf::{
    ManifestInfo, PublicKey, SkillFeatures, SkillFilter, SkillMeta, SkillPatch, SkillSource,
    SkillStatus, SkillStore, SkillStoreError, SkillStoreManifest, StoreCapabilities, VersionInfo,
    with_status,
};

use crate::shelf_contract::SkillHarness;

/// A fault of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillFault {
    /// All line ends become LF.
    RewritesLineEnds,
    /// The digest is of the received bytes, not of the stored ones.
    DigestOfWhatCame,
    /// Any name is accepted.
    TakesAnyName,
    /// Earlier bytes are lost.
    ForgetsBytes,
    /// A missing skill has an empty history.
    MissingHasAPast,
    /// Every write counts as a change.
    CountsRepeats,
    /// A removed skill leaves its history behind.
    DeleteLeavesThePast,
    /// The token depends only on names and statuses.
    TokenOfStatuses,
    /// The token changes without a reason.
    TokenMovesByItself,
    /// A skill is not locked to its author.
    NoAuthorLock,
    /// An anonymous writer removes the author.
    ErasesTheAuthor,
    /// An overwrite keeps the status of the skill and rewrites the status line of the new bytes.
    KeepsTheStatus,
    /// The status in the patch is ignored.
    IgnoresThePatch,
    /// An offset without a limit is an error.
    OffsetNeedsALimit,
    /// The filter by author is dropped.
    DropsTheAuthorFilter,
    /// Unknown filters match nothing.
    MindsUnknownWords,
    /// In secured mode the status line alone approves.
    ApprovesAnything,
    /// A second approval removes the signature.
    StripsTheSignature,
    /// A change of status does not return the previous one.
    HidesThePreviousStatus,
}

impl SkillFault {
    /// All faults.
    pub const ALL: [Self; 19] = [
        Self::RewritesLineEnds,
        Self::DigestOfWhatCame,
        Self::TakesAnyName,
        Self::ForgetsBytes,
        Self::MissingHasAPast,
        Self::CountsRepeats,
        Self::DeleteLeavesThePast,
        Self::TokenOfStatuses,
        Self::TokenMovesByItself,
        Self::NoAuthorLock,
        Self::ErasesTheAuthor,
        Self::KeepsTheStatus,
        Self::IgnoresThePatch,
        Self::OffsetNeedsALimit,
        Self::DropsTheAuthorFilter,
        Self::MindsUnknownWords,
        Self::ApprovesAnything,
        Self::StripsTheSignature,
        Self::HidesThePreviousStatus,
    ];

    /// Returns the case that must detect the fault.
    pub const fn noticed_by(self) -> &'static str {
        match self {
            Self::RewritesLineEnds => "no_byte_is_changed",
            Self::DigestOfWhatCame => "the_digest_is_of_the_bytes_as_kept",
            Self::TakesAnyName => "a_name_is_plain",
            Self::ForgetsBytes => "what_it_said_before_can_be_read",
            Self::MissingHasAPast => "what_is_missing_has_no_past",
            Self::CountsRepeats => "the_same_again_changes_nothing",
            Self::DeleteLeavesThePast => "a_deleted_name_begins_anew",
            Self::TokenOfStatuses => "the_token_moves_with_every_change",
            Self::TokenMovesByItself => "the_token_stays_when_nothing_changes",
            Self::NoAuthorLock => "a_skill_stays_its_first_authors",
            Self::ErasesTheAuthor => "an_author_who_is_not_named_is_kept",
            Self::KeepsTheStatus => "an_overwrite_stores_the_bytes_as_handed",
            Self::IgnoresThePatch => "a_patch_decides_the_status",
            Self::OffsetNeedsALimit => "a_page_needs_no_length",
            Self::DropsTheAuthorFilter => "every_filter_counts",
            Self::MindsUnknownWords => "an_unknown_word_is_not_looked_at",
            Self::ApprovesAnything => "an_approval_without_a_signature_is_a_draft",
            Self::StripsTheSignature => "a_signature_is_kept",
            Self::HidesThePreviousStatus => "a_change_of_status_says_what_it_was",
        }
    }
}

/// Creates faulty stores from correct ones.
#[derive(Clone, Debug)]
pub struct FaultySkillsHarness<H> {
    /// Creates the correct ones.
    pub good: H,
    /// The fault.
    pub fault: SkillFault,
}

/// A store with a fault.
pub struct FaultySkills<S> {
    good: S,
    fault: SkillFault,
    /// State of the fault: texts by key.
    noted: Mutex<HashMap<String, String>>,
}

#[async_trait]
impl<H: SkillHarness> SkillHarness for FaultySkillsHarness<H> {
    type Store = FaultySkills<H::Store>;

    async fn fresh(&self) -> Self::Store {
        let good = self.good.fresh().await;
        FaultySkills { good, fault: self.fault, noted: Mutex::default() }
    }

    async fn secured(&self, key: PublicKey) -> Option<Self::Store> {
        let good = match self.fault {
            SkillFault::ApprovesAnything => self.good.fresh().await,
            _ => self.good.secured(key).await?,
        };
        Some(FaultySkills { good, fault: self.fault, noted: Mutex::default() })
    }
}

impl<S: SkillStore> FaultySkills<S> {
    fn has(&self, fault: SkillFault) -> bool {
        self.fault == fault
    }

    /// Sets a text and returns the previous one.
    fn note(&self, key: &str, text: &str) -> Option<String> {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.insert(key.to_owned(), text.to_owned())
    }

    fn noted(&self, key: &str) -> Option<String> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Returns the name and bytes that the faulty store writes.
    fn bent(&self, name: &str, source: &str) -> (String, String) {
        let name = match self.fault {
            SkillFault::TakesAnyName => format!("n{}", hex::encode(name)),
            _ => name.to_owned(),
        };
        let source = match self.fault {
            SkillFault::RewritesLineEnds => source.replace("\r\n", "\n"),
            SkillFault::CountsRepeats => {
                format!("{source}#{}", self.noted.lock().map_or(0, |n| n.len()))
            }
            _ => source.to_owned(),
        };
        (name, source)
    }

    /// Returns the patch that the faulty store applies.
    fn bent_patch(&self, patch: &SkillPatch) -> SkillPatch {
        let mut patch = patch.clone();
        match self.fault {
            SkillFault::NoAuthorLock | SkillFault::ErasesTheAuthor => patch.author = None,
            SkillFault::IgnoresThePatch => patch.status = None,
            _ => {}
        }
        patch
    }

    /// Returns the metadata of a store without a lock on authors.
    fn bent_meta(&self, mut meta: SkillMeta) -> SkillMeta {
        if self.has(SkillFault::NoAuthorLock) || self.has(SkillFault::ErasesTheAuthor) {
            meta.author = self.noted(&meta.name).filter(|author| !author.is_empty());
        }
        meta
    }
}

#[async_trait]
impl<S: SkillStore> SkillStore for FaultySkills<S> {
    fn static_capabilities() -> StoreCapabilities<SkillFeatures> {
        S::static_capabilities()
    }

    async fn load(
        &self,
        name: &str,
        version: Option<&str>,
    ) -> Result<SkillSource, SkillStoreError> {
        let (stored, _) = self.bent(name, "");
        let mut skill = self.good.load(&stored, version).await?;
        if self.has(SkillFault::ForgetsBytes) && version.is_some_and(|v| skill.version == v) {
            let now = self.good.load(&stored, None).await?;
            if now.version != skill.version {
                return Err(SkillStoreError::VersionNotFound {
                    skill_name: name.to_owned(),
                    version: skill.version,
                });
            }
        }
        if self.has(SkillFault::DigestOfWhatCame) {
            skill.content_hash = self.noted(name).unwrap_or(skill.content_hash);
        }
        skill.metadata = self.bent_meta(skill.metadata);
        skill.name = name.to_owned();
        Ok(skill)
    }

    async fn query(&self, filter: &SkillFilter) -> Result<Vec<SkillMeta>, SkillStoreError> {
        let mut filter = filter.clone();
        match self.fault {
            SkillFault::OffsetNeedsALimit if filter.offset.is_some() && filter.limit.is_none() => {
                return Err(SkillStoreError::Query { reason: "near \"offset\"".to_owned() });
            }
            SkillFault::DropsTheAuthorFilter => filter.author = None,
            SkillFault::MindsUnknownWords if !filter.extra.is_empty() => return Ok(Vec::new()),
            _ => {}
        }
        let found = self.good.query(&filter).await?;
        Ok(found.into_iter().map(|meta| self.bent_meta(meta)).collect())
    }

    async fn metadata(&self, name: &str) -> Result<SkillMeta, SkillStoreError> {
        Ok(self.bent_meta(self.good.metadata(&self.bent(name, "").0).await?))
    }

    async fn versions(&self, name: &str) -> Result<Vec<VersionInfo>, SkillStoreError> {
        match self.good.versions(name).await {
            Err(_) if self.has(SkillFault::MissingHasAPast) => Ok(Vec::new()),
            Ok(mut versions) if self.has(SkillFault::DeleteLeavesThePast) => {
                if self.noted(name).is_some() {
                    versions.extend(versions.clone());
                }
                Ok(versions)
            }
            other => other,
        }
    }

    async fn store(
        &self,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<VersionInfo, SkillStoreError> {
        let (stored, bent) = self.bent(name, source);
        let mut bent_patch = self.bent_patch(patch);
        if self.has(SkillFault::KeepsTheStatus) && patch.status.is_none() {
            bent_patch.status = self.good.metadata(name).await.ok().map(|before| before.status);
        }
        let answer = self.good.store(&stored, &bent, &bent_patch).await?;
        match self.fault {
            SkillFault::CountsRepeats => {
                self.note(&answer.version, "");
            }
            SkillFault::NoAuthorLock => {
                if let Some(author) = &patch.author {
                    self.note(name, author);
                }
            }
            SkillFault::ErasesTheAuthor => {
                self.note(name, patch.author.as_deref().unwrap_or_default());
            }
            SkillFault::DigestOfWhatCame => {
                self.note(name, &nightdesk_shelf::content_hash(source));
            }
            _ => {}
        }
        Ok(VersionInfo { name: name.to_owned(), ..answer })
    }

    async fn delete(&self, name: &str) -> Result<(), SkillStoreError> {
        self.good.delete(name).await?;
        if self.has(SkillFault::DeleteLeavesThePast) {
            self.note(name, "");
        }
        Ok(())
    }

    async fn update_status(
        &self,
        name: &str,
        status: SkillStatus,
    ) -> Result<VersionInfo, SkillStoreError> {
        let mut answer = self.good.update_status(name, status).await?;
        if self.has(SkillFault::HidesThePreviousStatus) {
            answer.previous_status = None;
        }
        if self.has(SkillFault::StripsTheSignature) {
            let now = self.good.load(name, None).await?.source;
            let bare = with_status(&with_status(&now, SkillStatus::Draft), status);
            return self.good.store(name, &bare, &SkillPatch::default()).await;
        }
        Ok(answer)
    }

    async fn manifest(&self) -> Result<ManifestInfo<SkillStoreManifest>, SkillStoreError> {
        self.good.manifest().await
    }

    async fn version(&self) -> Result<Option<String>, SkillStoreError> {
        match self.fault {
            SkillFault::TokenOfStatuses => {
                let all = self.good.query(&SkillFilter::default()).await?;
                let lines = all.iter().map(|skill| format!("{}:{}", skill.name, skill.status));
                Ok(Some(lines.collect::<Vec<_>>().join("\n")))
            }
            SkillFault::TokenMovesByItself => {
                let asked = self.noted("asked").map_or(0, |asked| asked.len()) + 1;
                self.note("asked", &"x".repeat(asked));
                Ok(Some(asked.to_string()))
            }
            _ => self.good.version().await,
        }
    }
}
