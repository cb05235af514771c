//! What the shelf asks of a store that many tenants share, and how a skill changes in one.

use async_trait::async_trait;
use nightdesk_types::{Actor, StoreError, TenantScope};

use crate::approval::Approval;
use crate::data::{DataWriteRecord, PortableData};
use crate::entry::{DataQuery, NewData};
use crate::error::SkillStoreError;
use crate::hash::{content_hash, version_of};
use crate::header::Header;
use crate::plan::{Kept, Planned};
use crate::skill::{SkillMeta, SkillPatch, SkillSource, SkillStatus, SkillTrigger, VersionInfo};

/// What was asked for, or why it is not to be had. That the store failed is another thing.
pub type Asked<T> = Result<T, SkillStoreError>;

/// A tenant's shelf as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    /// Rises with every change of its skills, and of who approves them.
    pub revision: i64,
    /// Who approves its skills.
    pub approval: Approval,
}

/// Keeps every tenant's skills. Who acts is noted with each change.
#[async_trait]
pub trait Skills: Send + Sync {
    /// Keeps a skill, as [`plan`](crate::plan) decides. The newest [`SKILL_REVISIONS_KEPT_MAX`] revisions
    /// stay. Over a quota, that is the error.
    ///
    /// [`SKILL_REVISIONS_KEPT_MAX`]: nightdesk_types::limits::SKILL_REVISIONS_KEPT_MAX
    async fn put_skill(
        &self,
        scope: TenantScope,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<Asked<VersionInfo>, StoreError>;

    /// A skill, as it is or as it last was with this version.
    async fn skill(
        &self,
        scope: TenantScope,
        name: &str,
        version: Option<&str>,
    ) -> Result<Asked<SkillSource>, StoreError>;

    /// What is known of all skills, in no order.
    async fn skills(&self, scope: TenantScope) -> Result<Vec<SkillMeta>, StoreError>;

    /// All skills as they are, in no order.
    async fn skill_sources(&self, scope: TenantScope) -> Result<Vec<SkillSource>, StoreError>;

    /// What became of a skill, the newest first.
    async fn skill_versions(
        &self,
        scope: TenantScope,
        name: &str,
    ) -> Result<Asked<Vec<VersionInfo>>, StoreError>;

    /// Changes a skill's status, as [`plan_status`](crate::plan_status) decides.
    async fn set_skill_status(
        &self,
        scope: TenantScope,
        name: &str,
        status: SkillStatus,
    ) -> Result<Asked<VersionInfo>, StoreError>;

    /// Removes a skill and all that it was. Answers whether there was one.
    async fn delete_skill(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError>;

    /// The shelf as a whole.
    async fn shelf(&self, scope: TenantScope) -> Result<Shelf, StoreError>;

    /// Says who approves skills from now on. What is approved stays so, and is run only if they do.
    async fn secure_shelf(&self, scope: TenantScope, approval: &Approval)
    -> Result<(), StoreError>;
}

/// Keeps every tenant's data.
#[async_trait]
pub trait Records: Send + Sync {
    /// Keeps an entry. One of its id that is there is left as it is, and answered. What expired makes room
    /// first. Over a quota, that is the error.
    async fn put_data(
        &self,
        scope: TenantScope,
        new: &NewData,
    ) -> Result<DataWriteRecord, StoreError>;

    /// An entry that has not expired.
    async fn data(&self, scope: TenantScope, id: &str) -> Result<Option<PortableData>, StoreError>;

    /// What passes and has not expired: the best first, and without words the newest.
    async fn query_data(
        &self,
        scope: TenantScope,
        query: &DataQuery,
    ) -> Result<Vec<PortableData>, StoreError>;
}

/// A skill as it was from one change to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    /// The change.
    pub info: VersionInfo,
    /// What was kept from then on.
    pub kept: Kept,
    /// When there was none of its name before.
    pub created_at: i64,
    /// When its status last changed.
    pub status_changed_at: i64,
}

impl Revision {
    /// The first of a name, as it was found: at a time, by somebody.
    pub fn first(name: &str, kept: Kept, (now, by): (i64, Option<String>)) -> Self {
        let status = Header::of(&kept.source).status_said();
        let planned = Planned { kept, status, previous_status: None, changes: true };
        Self::next(name, planned, None, (now, by))
    }

    /// What a plan makes of what was there before, at a time, by somebody.
    pub fn next(
        name: &str,
        planned: Planned,
        before: Option<&Self>,
        (now, by): (i64, Option<String>),
    ) -> Self {
        let content_hash = content_hash(&planned.kept.source);
        let same_status = before.filter(|before| before.info.status == planned.status);
        Self {
            created_at: before.map_or(now, |before| before.created_at),
            status_changed_at: same_status.map_or(now, |before| before.status_changed_at),
            info: VersionInfo {
                name: name.to_owned(),
                version: version_of(&content_hash),
                content_hash,
                status: planned.status,
                previous_status: planned.previous_status,
                changed_at: now,
                changed_by: by,
            },
            kept: planned.kept,
        }
    }

    /// What is answered to who asks for the status it has.
    pub fn as_it_stands(&self) -> VersionInfo {
        let previous = self.info.previous_status.unwrap_or(self.info.status);
        VersionInfo { previous_status: Some(previous), ..self.info.clone() }
    }

    /// What is known of it.
    pub fn meta(&self) -> SkillMeta {
        let header = Header::of(&self.kept.source);
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
            tags: some(header.tags),
            vars: some(header.vars.into_iter().map(|var| var.name).collect()),
            returns: some(header.returns),
            requires: some(header.requires),
            triggers: some(triggers.collect()),
            outputs: some(outputs.collect()),
            kind: header.kind,
            status_changed_at: Some(self.status_changed_at),
            author: self.kept.author.clone(),
            metadata_bag: self.kept.metadata_bag.clone(),
        }
    }

    /// The skill as it is handed out.
    pub fn into_source(self) -> SkillSource {
        let metadata = self.meta();
        SkillSource {
            name: self.info.name,
            version: self.info.version,
            content_hash: self.info.content_hash,
            source: self.kept.source,
            metadata,
        }
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// What whoever acts is called beside what they wrote: an agent by its id.
pub fn writer(actor: Actor) -> Option<String> {
    match actor {
        Actor::Agent(agent) => Some(agent.to_string()),
        Actor::Desk => None,
        other @ (Actor::Operator | Actor::Gateway(_) | Actor::Client(_) | Actor::Person) => {
            Some(other.to_string())
        }
    }
}
