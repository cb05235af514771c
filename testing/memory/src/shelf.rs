//! Implements the store of skills and data.

use std::collections::{BTreeMap, HashSet};

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_shelf::{
    Approval, ContractResult, DataQuery, DataWriteRecord, NewData, PortableData, Records, Revision,
    RevisionStamp, ShelfState, SkillDraft, SkillMeta, SkillPatch, SkillSource, SkillStatus,
    SkillStoreError, Skills, VersionInfo, plan, plan_status, writer,
};
use nightdesk_types::limits::{SKILL_REVISIONS_KEPT_MAX, SKILLS_MAX};
use nightdesk_types::{OverQuota, Quota, StoreError, TenantScope};
use serde_json::json;

use super::{Memory, State};

/// The use of a shelf's quotas.
pub(super) struct ShelfUsage {
    pub(super) skills: usize,
    pub(super) entries: usize,
    pub(super) bytes: usize,
}

/// A tenant's shelf.
#[derive(Default)]
pub(super) struct ShelfRow {
    revision: i64,
    approval: Approval,
    /// The newest revision is last.
    skills: BTreeMap<String, Vec<Revision>>,
    /// Each with its creation time, in that order.
    data: Vec<(NewData, i64)>,
}

impl ShelfRow {
    /// Returns the number of skills and of data entries, and the bytes of both.
    pub(super) fn usage(&self) -> ShelfUsage {
        ShelfUsage { skills: self.skills.len(), entries: self.data.len(), bytes: self.bytes() }
    }

    fn bytes(&self) -> usize {
        let skills = self.skills.values().flatten().map(|revision| revision.skill.source.len());
        skills.sum::<usize>() + self.data.iter().map(|(entry, _)| entry.bytes()).sum::<usize>()
    }

    fn newest(&self, name: &str) -> Option<&Revision> {
        self.skills.get(name).and_then(|revisions| revisions.last())
    }
}

impl Memory {
    /// Adds a revision, and records it in the audit log.
    fn put_revision(
        &self,
        state: &mut State,
        scope: TenantScope,
        next: Revision,
    ) -> Result<VersionInfo, StoreError> {
        let mine = state.shelves.entry(scope).or_default();
        let is_new = !mine.skills.contains_key(&next.info.name);
        let (has, had) = (mine.skills.len(), mine.bytes());
        if is_new {
            state.keep_quota("store a skill", scope, Quota::Skills, has)?;
            if has >= SKILLS_MAX {
                let allowed = i64::try_from(SKILLS_MAX).unwrap_or(i64::MAX);
                let over = OverQuota { quota: Quota::Skills, allowed };
                return Err(StoreError::quota_exceeded("store a skill", over));
            }
        }
        state.keep_bytes("store a skill", scope, had + next.skill.source.len())?;
        let info = next.info.clone();
        let kind = info.previous_status.map_or(Kind::SkillWritten, |_| Kind::SkillStatusSet);
        let mine = state.shelves.entry(scope).or_default();
        let revisions = mine.skills.entry(info.name.clone()).or_default();
        revisions.push(next);
        revisions.drain(..revisions.len().saturating_sub(SKILL_REVISIONS_KEPT_MAX));
        mine.revision += 1;
        let about =
            json!({ "name": info.name, "version": info.version, "status": info.status.as_str() });
        self.tell(state, scope, kind, &about);
        Ok(info)
    }

    fn secs(&self) -> i64 {
        self.now().as_second()
    }
}

impl State {
    fn keep_bytes(
        &self,
        operation: &'static str,
        scope: TenantScope,
        bytes: usize,
    ) -> Result<(), StoreError> {
        self.keep_quota(operation, scope, Quota::ShelfBytes, bytes.saturating_sub(1))
    }
}

#[async_trait]
impl Skills for Memory {
    async fn put_skill(
        &self,
        scope: TenantScope,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<ContractResult<VersionInfo>, StoreError> {
        let mut state = self.lock();
        let mine = state.shelves.entry(scope).or_default();
        let before = mine.newest(name).cloned();
        let kept = before.as_ref().map(|before| &before.skill);
        let planned = match plan(kept, SkillDraft { name, source, patch }, &mine.approval) {
            Ok(planned) => planned,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Some(before) = before.as_ref().filter(|_| !planned.changes) {
            return Ok(Ok(before.info.clone()));
        }
        let stamp = RevisionStamp { changed_at: self.secs(), changed_by: writer(scope.actor()) };
        let next = Revision::next(name, planned, before.as_ref(), stamp);
        self.put_revision(&mut state, scope, next).map(Ok)
    }

    async fn skill(
        &self,
        scope: TenantScope,
        name: &str,
        version: Option<&str>,
    ) -> Result<ContractResult<SkillSource>, StoreError> {
        let state = self.lock();
        let Some(revisions) = state.shelves.get(&scope).and_then(|mine| mine.skills.get(name))
        else {
            return Ok(Err(SkillStoreError::not_found(name)));
        };
        let is_it = |revision: &&Revision| version.is_none_or(|v| revision.info.version == v);
        let found = revisions.iter().rev().find(is_it).cloned().map(Revision::into_source);
        Ok(found.ok_or_else(|| SkillStoreError::VersionNotFound {
            skill_name: name.to_owned(),
            version: version.unwrap_or_default().to_owned(),
        }))
    }

    async fn skills(&self, scope: TenantScope) -> Result<Vec<SkillMeta>, StoreError> {
        let state = self.lock();
        let revisions = state.shelves.get(&scope).into_iter().flat_map(|s| s.skills.values());
        Ok(revisions.filter_map(|revisions| revisions.last()).map(Revision::meta).collect())
    }

    async fn skill_sources(&self, scope: TenantScope) -> Result<Vec<SkillSource>, StoreError> {
        let state = self.lock();
        let revisions = state.shelves.get(&scope).into_iter().flat_map(|s| s.skills.values());
        let newest = revisions.filter_map(|revisions| revisions.last()).cloned();
        Ok(newest.map(Revision::into_source).collect())
    }

    async fn skill_versions(
        &self,
        scope: TenantScope,
        name: &str,
    ) -> Result<ContractResult<Vec<VersionInfo>>, StoreError> {
        let state = self.lock();
        let revisions = state.shelves.get(&scope).and_then(|mine| mine.skills.get(name));
        let newest_first =
            |all: &Vec<Revision>| all.iter().rev().map(|one| one.info.clone()).collect();
        Ok(revisions.map(newest_first).ok_or_else(|| SkillStoreError::not_found(name)))
    }

    async fn set_skill_status(
        &self,
        scope: TenantScope,
        name: &str,
        status: SkillStatus,
    ) -> Result<ContractResult<VersionInfo>, StoreError> {
        let mut state = self.lock();
        let mine = state.shelves.entry(scope).or_default();
        let Some(before) = mine.newest(name).cloned() else {
            return Ok(Err(SkillStoreError::not_found(name)));
        };
        let planned = match plan_status(name, &before.skill, status, &mine.approval) {
            Ok(planned) => planned,
            Err(refused) => return Ok(Err(refused)),
        };
        if !planned.changes {
            return Ok(Ok(before.as_it_stands()));
        }
        let stamp = RevisionStamp { changed_at: self.secs(), changed_by: writer(scope.actor()) };
        let next = Revision::next(name, planned, Some(&before), stamp);
        self.put_revision(&mut state, scope, next).map(Ok)
    }

    async fn delete_skill(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let mine = state.shelves.entry(scope).or_default();
        if mine.skills.remove(name).is_none() {
            return Ok(false);
        }
        mine.revision += 1;
        self.tell(&mut state, scope, Kind::SkillDeleted, &json!({ "name": name }));
        Ok(true)
    }

    async fn shelf(&self, scope: TenantScope) -> Result<ShelfState, StoreError> {
        let mut state = self.lock();
        let mine = state.shelves.entry(scope).or_default();
        Ok(ShelfState { revision: mine.revision, approval: mine.approval.clone() })
    }

    async fn secure_shelf(
        &self,
        scope: TenantScope,
        approval: &Approval,
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        let mine = state.shelves.entry(scope).or_default();
        if mine.approval == *approval {
            return Ok(());
        }
        mine.approval = approval.clone();
        mine.revision += 1;
        self.tell(&mut state, scope, Kind::ShelfSecured, &json!({}));
        Ok(())
    }
}

#[async_trait]
impl Records for Memory {
    async fn put_data(
        &self,
        scope: TenantScope,
        new: &NewData,
    ) -> Result<DataWriteRecord, StoreError> {
        let now = self.secs();
        let mut state = self.lock();
        let mine = state.shelves.entry(scope).or_default();
        mine.data.retain(|(entry, _)| !entry.has_expired(now));
        if let Some((entry, created_at)) = mine.data.iter().find(|(entry, _)| entry.id == new.id) {
            return Ok(DataWriteRecord { id: entry.id.clone(), created_at: *created_at });
        }
        let (has, bytes) = (mine.data.len(), mine.bytes() + new.bytes());
        state.keep_quota("store data", scope, Quota::DataEntries, has)?;
        state.keep_bytes("store data", scope, bytes)?;
        state.shelves.entry(scope).or_default().data.push((new.clone(), now));
        Ok(DataWriteRecord { id: new.id.clone(), created_at: now })
    }

    async fn data(&self, scope: TenantScope, id: &str) -> Result<Option<PortableData>, StoreError> {
        let now = self.secs();
        let state = self.lock();
        let mut entries = state.shelves.get(&scope).into_iter().flat_map(|mine| &mine.data);
        let found = entries.find(|(entry, _)| entry.id == id && !entry.has_expired(now));
        Ok(found.map(|(entry, created_at)| entry.portable(*created_at, None)))
    }

    async fn query_data(
        &self,
        scope: TenantScope,
        query: &DataQuery,
    ) -> Result<Vec<PortableData>, StoreError> {
        let now = self.secs();
        let asked = (!query.words.trim().is_empty()).then(|| words(&query.words));
        let state = self.lock();
        let newest_first =
            state.shelves.get(&scope).into_iter().flat_map(|mine| mine.data.iter().rev());
        let mut found: Vec<_> = newest_first
            .filter(|(entry, _)| !entry.has_expired(now) && query.is_met_by(entry))
            .filter_map(|(entry, at)| Some(entry.portable(*at, score(asked.as_ref(), entry)?)))
            .collect();
        found.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(std::cmp::Ordering::Equal));
        found.truncate(query.limit);
        Ok(found)
    }
}

/// Returns the score of an entry that matches. Without a query there is no score.
#[expect(clippy::option_option, reason = "no score is an answer, too")]
#[expect(clippy::cast_precision_loss, reason = "a share of a few words")]
fn score(asked: Option<&HashSet<String>>, entry: &NewData) -> Option<Option<f64>> {
    let Some(asked) = asked else {
        return Some(None);
    };
    let has = words(&entry.content);
    let answers = !asked.is_empty() && asked.is_subset(&has);
    answers.then(|| Some(asked.len() as f64 / has.len() as f64))
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
