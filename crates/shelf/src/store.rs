//! The shelf's storage port for many tenants, and the revisions of skills in it.

use async_trait::async_trait;
use nightdesk_types::{Actor, StoreError, TenantScope};

use crate::approval::Approval;
use crate::data::{DataWriteRecord, PortableData};
use crate::entry::{DataQuery, NewData};
use crate::error::SkillStoreError;
use crate::hash::{content_hash, version_of};
use crate::header::Header;
use crate::plan::{StoredSkill, WritePlan};
use crate::skill::{SkillMeta, SkillPatch, SkillSource, SkillStatus, SkillTrigger, VersionInfo};

/// A result, or the contract's error. A failure of the store is a separate error.
pub type ContractResult<T> = Result<T, SkillStoreError>;

/// A tenant's shelf as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShelfState {
    /// A number that rises with every change of the skills or of the approval.
    pub revision: i64,
    /// The authority that approves skills.
    pub approval: Approval,
}

/// Stores the skills of all tenants. The actor is recorded with each change.
#[async_trait]
pub trait Skills: Send + Sync {
    /// Stores a skill, as [`plan`](crate::plan) decides. The newest [`SKILL_REVISIONS_KEPT_MAX`] revisions remain. An
    /// exceeded quota is an error.
    ///
    /// [`SKILL_REVISIONS_KEPT_MAX`]: nightdesk_types::limits::SKILL_REVISIONS_KEPT_MAX
    async fn put_skill(
        &self,
        scope: TenantScope,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<ContractResult<VersionInfo>, StoreError>;

    /// Returns a skill, in its current state or in the last revision of this version.
    async fn skill(
        &self,
        scope: TenantScope,
        name: &str,
        version: Option<&str>,
    ) -> Result<ContractResult<SkillSource>, StoreError>;

    /// Returns the metadata of all skills, in no order.
    async fn skills(&self, scope: TenantScope) -> Result<Vec<SkillMeta>, StoreError>;

    /// Returns all current skills, in no order.
    async fn skill_sources(&self, scope: TenantScope) -> Result<Vec<SkillSource>, StoreError>;

    /// Returns the changes of a skill, newest first.
    async fn skill_versions(
        &self,
        scope: TenantScope,
        name: &str,
    ) -> Result<ContractResult<Vec<VersionInfo>>, StoreError>;

    /// Changes a skill's status, as [`plan_status`](crate::plan_status) decides.
    async fn set_skill_status(
        &self,
        scope: TenantScope,
        name: &str,
        status: SkillStatus,
    ) -> Result<ContractResult<VersionInfo>, StoreError>;

    /// Removes a skill and its history. Returns true if the skill existed.
    async fn delete_skill(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError>;

    /// Returns the shelf as a whole.
    async fn shelf(&self, scope: TenantScope) -> Result<ShelfState, StoreError>;

    /// Sets the authority that approves skills. Approved skills retain their status, but run only if it approves them.
    async fn secure_shelf(&self, scope: TenantScope, approval: &Approval)
    -> Result<(), StoreError>;
}

/// Stores the data of all tenants.
#[async_trait]
pub trait Records: Send + Sync {
    /// Stores an entry. An existing entry with the same id remains unchanged and is returned. Expired entries are
    /// removed first. An exceeded quota is an error.
    async fn put_data(
        &self,
        scope: TenantScope,
        new: &NewData,
    ) -> Result<DataWriteRecord, StoreError>;

    /// Returns an entry that has not expired.
    async fn data(&self, scope: TenantScope, id: &str) -> Result<Option<PortableData>, StoreError>;

    /// Returns the matching entries that have not expired: best first, or newest first without words.
    async fn query_data(
        &self,
        scope: TenantScope,
        query: &DataQuery,
    ) -> Result<Vec<PortableData>, StoreError>;
}

/// The state of a skill between two changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    /// The change.
    pub info: VersionInfo,
    /// The stored skill after the change.
    pub skill: StoredSkill,
    /// The time when the name was first used.
    pub created_at: i64,
    /// The time of the last change of status.
    pub status_changed_at: i64,
}

/// The time and the writer of a change.
#[derive(Clone, Debug)]
pub struct RevisionStamp {
    /// The time of the change, in seconds since 1970.
    pub changed_at: i64,
    /// The writer. `None`: the desk itself, or the writer is unknown.
    pub changed_by: Option<String>,
}

impl Revision {
    /// Creates the first revision of a name.
    pub fn first(name: &str, kept: StoredSkill, stamp: RevisionStamp) -> Self {
        let status = Header::parse(&kept.source).declared_status();
        let planned = WritePlan { skill: kept, status, previous_status: None, changes: true };
        Self::next(name, planned, None, stamp)
    }

    /// Creates the revision that follows from a plan.
    pub fn next(
        name: &str,
        planned: WritePlan,
        before: Option<&Self>,
        stamp: RevisionStamp,
    ) -> Self {
        let RevisionStamp { changed_at, changed_by } = stamp;
        let content_hash = content_hash(&planned.skill.source);
        let same_status = before.filter(|before| before.info.status == planned.status);
        Self {
            created_at: before.map_or(changed_at, |before| before.created_at),
            status_changed_at: same_status.map_or(changed_at, |before| before.status_changed_at),
            info: VersionInfo {
                name: name.to_owned(),
                version: version_of(&content_hash),
                content_hash,
                status: planned.status,
                previous_status: planned.previous_status,
                changed_at,
                changed_by,
            },
            skill: planned.skill,
        }
    }

    /// Returns the result of a request for the status that the skill already has.
    pub fn as_it_stands(&self) -> VersionInfo {
        let previous = self.info.previous_status.unwrap_or(self.info.status);
        VersionInfo { previous_status: Some(previous), ..self.info.clone() }
    }

    /// Returns the metadata.
    pub fn meta(&self) -> SkillMeta {
        let header = Header::parse(&self.skill.source);
        let triggers = header.triggers.into_iter().map(|trigger| SkillTrigger {
            source: trigger.source,
            name: trigger.name,
            agent_id: None,
        });
        let outputs = header.outputs.into_iter().map(|output| match output.target {
            Some(target) => format!("{}: {target}", output.kind),
            None => output.kind,
        });
        SkillMeta {
            name: self.info.name.clone(),
            version: self.info.version.clone(),
            content_hash: self.info.content_hash.clone(),
            status: self.info.status,
            created_at: self.created_at,
            updated_at: self.info.changed_at,
            description: header.description,
            tags: non_empty(header.tags),
            vars: non_empty(header.vars.into_iter().map(|var| var.name).collect()),
            returns: non_empty(header.returns),
            requires: non_empty(header.requires),
            triggers: non_empty(triggers.collect()),
            outputs: non_empty(outputs.collect()),
            kind: header.kind,
            status_changed_at: Some(self.status_changed_at),
            author: self.skill.author.clone(),
            metadata_bag: self.skill.metadata_bag.clone(),
        }
    }

    /// Returns the skill in the contract's type.
    pub fn into_source(self) -> SkillSource {
        let metadata = self.meta();
        SkillSource {
            name: self.info.name,
            version: self.info.version,
            content_hash: self.info.content_hash,
            source: self.skill.source,
            metadata,
        }
    }
}

fn non_empty<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// Returns the actor's name as a writer. An agent is named by its id.
pub fn writer(actor: Actor) -> Option<String> {
    match actor {
        Actor::Agent(agent) => Some(agent.to_string()),
        Actor::Desk => None,
        other @ (Actor::Operator
        | Actor::User(_)
        | Actor::Token(_)
        | Actor::Gateway(_)
        | Actor::Client(_)
        | Actor::Person) => Some(other.to_string()),
    }
}
