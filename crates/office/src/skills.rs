//! Skills, of a tenant or of a folder, and their approval.

use nightdesk_shelf::{
    Approval, PublicKey, SkillFilter, SkillMeta, SkillPatch, SkillSource, SkillStatus, SkillStore,
    SkillStoreError, VersionInfo, dependents,
};
use nightdesk_types::limits::SKILLS_PAGE_MAX;
use nightdesk_types::{TenantId, TenantScope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;

/// A skill in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SkillRow {
    /// Its name.
    pub name: String,
    /// `Draft`, `Approved` or `Disabled`.
    #[schema(value_type = String)]
    pub status: SkillStatus,
    /// The version of its bytes.
    pub version: String,
    /// The author: an agent's id.
    pub author: Option<String>,
    /// The description.
    pub description: Option<String>,
}

impl From<SkillMeta> for SkillRow {
    fn from(skill: SkillMeta) -> Self {
        let SkillMeta { name, status, version, author, description, .. } = skill;
        Self { name, status, version, author, description }
    }
}

/// The result of a check whether a skill may be run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SkillCheck {
    /// Its name.
    pub name: String,
    /// The version of its bytes.
    pub version: String,
    /// `Draft`, `Approved` or `Disabled`.
    #[schema(value_type = String)]
    pub status: SkillStatus,
    /// True if a key approves the skills there.
    pub secured: bool,
    /// True if it may be run.
    pub may_run: bool,
    /// The reason why it may not.
    pub why_not: Option<&'static str>,
}

/// A skill that was removed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RemovedSkill {
    /// Its name.
    pub name: String,
    /// True.
    pub deleted: bool,
    /// The skills that mention it.
    pub mentioned_by: Vec<String>,
}

/// A signature that approves one version of a skill.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillSignature {
    /// The version that was signed.
    pub version: String,
    /// The signature, as the status line carries it: `v3:…`.
    pub signature: String,
}

/// The confirmation that a removal needs.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct SkillRemoval {
    /// The skill's name again.
    #[serde(default)]
    pub confirm: String,
    /// True if it is removed also if other skills mention it.
    #[serde(default)]
    pub force: bool,
}

/// The authority that approves a tenant's skills.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SkillAuthority {
    /// The tenant.
    #[schema(value_type = String)]
    pub tenant_id: TenantId,
    /// True if a key approves the skills; false if their authors do.
    pub secured: bool,
    /// The public key.
    pub public_key: Option<String>,
}

/// The skills of one place, and the authority that approves them there.
pub struct SkillAdmin {
    store: Box<dyn SkillStore>,
    approval: Approval,
}

impl SkillAdmin {
    /// Manages the skills of a store.
    pub fn new(store: impl SkillStore + 'static, approval: Approval) -> Self {
        Self { store: Box::new(store), approval }
    }

    /// Returns a page of the skills that match a filter, by name, after this one.
    pub async fn list(
        &self,
        filter: &SkillFilter,
        after: &str,
    ) -> Result<Vec<SkillRow>, OfficeError> {
        let found = self.store.query(filter).await?.into_iter();
        let page = found.filter(|skill| skill.name.as_str() > after).take(SKILLS_PAGE_MAX);
        Ok(page.map(SkillRow::from).collect())
    }

    /// Returns a skill, in its current or an earlier version.
    pub async fn load(
        &self,
        name: &str,
        version: Option<&str>,
    ) -> Result<SkillSource, OfficeError> {
        Ok(self.store.load(name, version).await?)
    }

    /// Stores a skill. An existing one retains its author. An identical write changes nothing.
    pub async fn write(
        &self,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<VersionInfo, OfficeError> {
        Ok(self.store.store(name, source, patch).await?)
    }

    /// Changes a skill's status.
    pub async fn set_status(
        &self,
        name: &str,
        status: SkillStatus,
    ) -> Result<VersionInfo, OfficeError> {
        Ok(self.store.update_status(name, status).await?)
    }

    /// Returns the changes of a skill, newest first.
    pub async fn history(&self, name: &str) -> Result<Vec<VersionInfo>, OfficeError> {
        Ok(self.store.versions(name).await?)
    }

    /// Removes a skill permanently, with all its versions.
    pub async fn remove(
        &self,
        name: &str,
        removal: &SkillRemoval,
    ) -> Result<RemovedSkill, OfficeError> {
        self.store.metadata(name).await?;
        let mentioned_by = dependents(&*self.store, name).await?;
        if !mentioned_by.is_empty() && !removal.force {
            return Err(OfficeError::Conflict(format!(
                "{name} is mentioned by {}; change those skills first, or use force",
                mentioned_by.join(", ")
            )));
        }
        if removal.confirm != name {
            return Err(OfficeError::Invalid(format!(
                "this cannot be undone; confirm it with the skill's name, {name}"
            )));
        }
        self.store.delete(name).await?;
        Ok(RemovedSkill { name: name.to_owned(), deleted: true, mentioned_by })
    }

    /// Returns whether a skill may be run, and the reason if it may not.
    pub async fn check(&self, name: &str) -> Result<SkillCheck, OfficeError> {
        let skill = self.store.load(name, None).await?;
        let why_not = self.approval.check(&skill.source).err();
        Ok(SkillCheck {
            name: skill.name,
            version: skill.version,
            status: skill.metadata.status,
            secured: self.approval != Approval::Unsecured,
            may_run: why_not.is_none(),
            why_not,
        })
    }

    /// Approves the version of a skill that was signed. The private key stays with its owner.
    pub async fn approve(
        &self,
        name: &str,
        signed: &SkillSignature,
    ) -> Result<VersionInfo, OfficeError> {
        let skill = self.store.load(name, None).await?;
        if skill.version != signed.version {
            return Err(OfficeError::Conflict(format!(
                "{name} is now {}, not {}; read it again",
                skill.version, signed.version
            )));
        }
        let rejected = |reason: &str| SkillStoreError::ApprovalRejected {
            skill_name: name.to_owned(),
            reason: reason.to_owned(),
        };
        let source = self.approval.apply_signature(&skill.source, &signed.signature);
        let patch = SkillPatch { status: Some(SkillStatus::Approved), ..SkillPatch::default() };
        self.write(name, &source.map_err(rejected)?, &patch).await
    }
}

impl Office {
    /// Returns the skills of a tenant.
    pub async fn skills(&self, scope: TenantScope) -> Result<SkillAdmin, OfficeError> {
        let store = &self.desk.stops.shelf;
        Ok(SkillAdmin::new(store.skills(scope), store.approval(scope).await?))
    }

    /// Returns the authority that approves a tenant's skills.
    pub async fn skill_authority(&self, scope: TenantScope) -> Result<SkillAuthority, OfficeError> {
        Ok(skill_authority(scope, &self.desk.stops.shelf.approval(scope).await?))
    }

    /// Sets the key that approves a tenant's skills.
    pub async fn set_skill_key(
        &self,
        scope: TenantScope,
        public_key: &str,
    ) -> Result<SkillAuthority, OfficeError> {
        let key = PublicKey::from_pem(public_key).map_err(|error| {
            OfficeError::Invalid(format!(
                "public_key is {error}; `nightdesk skill key` creates one"
            ))
        })?;
        let approval = Approval::Secured(key);
        self.desk.stops.shelf.secure(scope, &approval).await?;
        Ok(skill_authority(scope, &approval))
    }

    /// Removes the key that approves a tenant's skills, so that their authors approve them.
    pub async fn remove_skill_key(
        &self,
        scope: TenantScope,
    ) -> Result<SkillAuthority, OfficeError> {
        let store = &self.desk.stops.shelf;
        if store.approval(scope).await? == Approval::Unsecured {
            return Err(OfficeError::NotFound(
                "no key approves the tenant's skills: their authors do".to_owned(),
            ));
        }
        store.secure(scope, &Approval::Unsecured).await?;
        Ok(skill_authority(scope, &Approval::Unsecured))
    }
}

fn skill_authority(scope: TenantScope, approval: &Approval) -> SkillAuthority {
    let public_key = match approval {
        Approval::Unsecured => None,
        Approval::Secured(key) => Some(key.to_pem()),
    };
    SkillAuthority { tenant_id: scope.tenant(), secured: public_key.is_some(), public_key }
}

impl From<SkillStoreError> for OfficeError {
    fn from(error: SkillStoreError) -> Self {
        match error {
            error @ SkillStoreError::SkillNotFound { .. } => {
                Self::NotFound(format!("{error}; `nightdesk skill list` shows them"))
            }
            error @ SkillStoreError::VersionNotFound { .. } => {
                Self::NotFound(format!("{error}; `nightdesk skill history` shows them"))
            }
            SkillStoreError::Store(error) => error.into(),
            error @ (SkillStoreError::StorageConflict { .. }
            | SkillStoreError::LintFailure { .. }
            | SkillStoreError::ApprovalRejected { .. }
            | SkillStoreError::Query { .. }
            | SkillStoreError::Timeout { .. }) => Self::Skill(error),
        }
    }
}
