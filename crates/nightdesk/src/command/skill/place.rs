//! The skills that a command is about: of a tenant, which a desk manages, or of a folder on this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use nightdesk_office::{SkillAdmin, SkillRemoval, SkillSignature};
use nightdesk_shelf::{
    Approval, FolderSkills, OneOrMany, PublicKey, SkillFilter, SkillPatch, SkillStatus,
};
use nightdesk_types::SystemClock;
use nightdesk_types::limits::SKILLS_PAGE_MAX;
use serde_json::{Value, json};

use crate::desk_client::{ApiRequest, DeskClient};

/// The place of skills.
#[derive(Debug, Args)]
pub(crate) struct SkillPlace {
    /// The tenant of the skills, by name or id.
    #[arg(long, required_unless_present = "folder", conflicts_with = "folder")]
    tenant: Option<String>,
    /// A folder of files, in place of a tenant.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// The file with the public key that approves the skills in the folder.
    #[arg(long, value_name = "FILE", requires = "folder")]
    approved_by: Option<PathBuf>,
}

/// The skills of a place.
pub(super) enum PlacedSkills<'a> {
    Folder(SkillAdmin),
    Tenant { desk: &'a DeskClient, tenant: &'a str },
}

impl SkillPlace {
    /// Returns true if the skills are files on this machine.
    pub(super) const fn is_folder(&self) -> bool {
        self.folder.is_some()
    }

    /// Opens the place. A folder needs no desk.
    pub(super) fn open<'a>(
        &'a self,
        desk: Option<&'a DeskClient>,
    ) -> anyhow::Result<PlacedSkills<'a>> {
        if let Some(folder) = &self.folder {
            let approval = match &self.approved_by {
                Some(file) => Approval::Secured(read_public_key(file)?),
                None => Approval::Unsecured,
            };
            let clock = Arc::new(SystemClock::start());
            let skills = FolderSkills::open(folder, approval.clone(), clock)?;
            return Ok(PlacedSkills::Folder(SkillAdmin::new(skills, approval)));
        }
        let tenant = self.tenant.as_deref().context("give --tenant or --folder")?;
        let desk = desk.context("a tenant's skills need a desk; name one with --desk")?;
        Ok(PlacedSkills::Tenant { desk, tenant })
    }
}

impl PlacedSkills<'_> {
    /// Returns all skills with this status and this author.
    pub(super) async fn list(
        &self,
        status: Option<SkillStatus>,
        author: Option<&str>,
    ) -> anyhow::Result<Vec<Value>> {
        let filter = SkillFilter {
            status: status.map(OneOrMany::One),
            author: author.map(str::to_owned),
            ..SkillFilter::default()
        };
        let mut rows: Vec<Value> = Vec::new();
        loop {
            let last = rows.last().and_then(|row| row["name"].as_str()).unwrap_or_default();
            let page = match self {
                Self::Folder(skills) => {
                    let page = skills.list(&filter, last).await?.into_iter();
                    page.map(serde_json::to_value).collect::<Result<_, _>>()?
                }
                Self::Tenant { desk, tenant } => {
                    let request = ApiRequest::get(&["tenants", tenant, "skills"])
                        .with("after", last)
                        .with("status", status.map_or("", SkillStatus::as_str))
                        .with("author", author.unwrap_or_default());
                    desk.rows(request).await?
                }
            };
            let is_last = page.len() < SKILLS_PAGE_MAX;
            rows.extend(page);
            if is_last {
                return Ok(rows);
            }
        }
    }

    /// Returns a skill, in its current or an earlier version.
    pub(super) async fn load(&self, name: &str, version: Option<&str>) -> anyhow::Result<Value> {
        match self {
            Self::Folder(skills) => Ok(serde_json::to_value(skills.load(name, version).await?)?),
            Self::Tenant { desk, tenant } => {
                let request = ApiRequest::get(&["tenants", tenant, "skills", name]);
                desk.call(request.with("version", version.unwrap_or_default())).await
            }
        }
    }

    /// Stores a skill.
    pub(super) async fn write(
        &self,
        name: &str,
        source: &str,
        status: Option<SkillStatus>,
    ) -> anyhow::Result<Value> {
        match self {
            Self::Folder(skills) => {
                let patch = SkillPatch { status, ..SkillPatch::default() };
                Ok(serde_json::to_value(skills.write(name, source, &patch).await?)?)
            }
            Self::Tenant { desk, tenant } => {
                let body = json!({ "source": source, "status": status });
                let request = ApiRequest::put(&["tenants", tenant, "skills", name]);
                desk.call(request.with_body(body)).await
            }
        }
    }

    /// Changes a skill's status.
    pub(super) async fn set_status(
        &self,
        name: &str,
        status: SkillStatus,
    ) -> anyhow::Result<Value> {
        match self {
            Self::Folder(skills) => {
                Ok(serde_json::to_value(skills.set_status(name, status).await?)?)
            }
            Self::Tenant { desk, tenant } => {
                let request = ApiRequest::put(&["tenants", tenant, "skills", name, "status"]);
                desk.call(request.with_body(json!({ "status": status }))).await
            }
        }
    }

    /// Returns the changes of a skill, newest first.
    pub(super) async fn history(&self, name: &str) -> anyhow::Result<Vec<Value>> {
        match self {
            Self::Folder(skills) => {
                let changes = skills.history(name).await?.into_iter();
                Ok(changes.map(serde_json::to_value).collect::<Result<_, _>>()?)
            }
            Self::Tenant { desk, tenant } => {
                let path = ["tenants", tenant, "skills", name, "versions"];
                desk.rows(ApiRequest::get(&path)).await
            }
        }
    }

    /// Removes a skill, which the caller confirmed.
    pub(super) async fn remove(&self, name: &str, force: bool) -> anyhow::Result<Value> {
        match self {
            Self::Folder(skills) => {
                let removal = SkillRemoval { confirm: name.to_owned(), force };
                Ok(serde_json::to_value(skills.remove(name, &removal).await?)?)
            }
            Self::Tenant { desk, tenant } => {
                let request = ApiRequest::delete(&["tenants", tenant, "skills", name]);
                desk.call(request.with("confirm", name).with("force", force)).await
            }
        }
    }

    /// Returns whether a skill may be run, and why not.
    pub(super) async fn check(&self, name: &str) -> anyhow::Result<Value> {
        match self {
            Self::Folder(skills) => Ok(serde_json::to_value(skills.check(name).await?)?),
            Self::Tenant { desk, tenant } => {
                let path = ["tenants", tenant, "skills", name, "approval"];
                desk.call(ApiRequest::get(&path)).await
            }
        }
    }

    /// Approves the version of a skill that was signed.
    pub(super) async fn approve(
        &self,
        name: &str,
        signed: &SkillSignature,
    ) -> anyhow::Result<Value> {
        match self {
            Self::Folder(skills) => Ok(serde_json::to_value(skills.approve(name, signed).await?)?),
            Self::Tenant { desk, tenant } => {
                let SkillSignature { version, signature } = signed;
                let body = json!({ "version": version, "signature": signature });
                let request = ApiRequest::put(&["tenants", tenant, "skills", name, "approval"]);
                desk.call(request.with_body(body)).await
            }
        }
    }
}

/// Reads a public key.
pub(super) fn read_public_key(file: &Path) -> anyhow::Result<PublicKey> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read {}", file.display()))?;
    PublicKey::from_pem(&text).with_context(|| format!("{} cannot be used", file.display()))
}
