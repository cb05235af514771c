//! Commands about skills. Only this command line signs: the desk has no private key.

mod signing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use nightdesk_register::Register;
use nightdesk_shelf::{
    Approval, FolderSkills, OneOrMany, PublicKey, SkillFilter, SkillMeta, SkillPatch, SkillStatus,
    SkillStore, Skills, TenantSkills, VersionInfo, dependents,
};
use nightdesk_store_pg::Pg;
use nightdesk_types::SystemClock;
use serde_json::{Value, json};

use super::names;
use crate::ui::CommandOutput;

#[derive(Debug, Subcommand)]
pub(crate) enum SkillSubcommand {
    /// List skills.
    #[command(after_help = "Example:\n  nightdesk skill list --tenant acme --status Draft")]
    List {
        #[command(flatten)]
        place: SkillPlace,
        /// Only this status: `Draft`, `Approved` or `Disabled`.
        #[arg(long, value_parser = status)]
        status: Option<SkillStatus>,
        /// Only this author: an agent's id.
        #[arg(long)]
        author: Option<String>,
    },
    /// Show the content of a skill, or of an earlier version.
    #[command(after_help = "Example:\n  nightdesk skill show --tenant acme brief")]
    Show {
        #[command(flatten)]
        which: SkillArgs,
        /// A version that `nightdesk skill history` shows.
        #[arg(long)]
        version: Option<String>,
    },
    /// Write a skill. An existing skill retains its status and its author.
    #[command(
        after_help = "Example:\n  nightdesk skill write --tenant acme brief --file brief.skill.md"
    )]
    Write {
        #[command(flatten)]
        which: SkillArgs,
        /// The file with its bytes.
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
        /// The status to set, in place of the one in its bytes.
        #[arg(long, value_parser = status)]
        status: Option<SkillStatus>,
    },
    /// Change a skill's status.
    #[command(after_help = "Example:\n  nightdesk skill status --tenant acme brief Disabled")]
    Status {
        #[command(flatten)]
        which: SkillArgs,
        /// `Draft`, `Approved` or `Disabled`.
        #[arg(value_parser = status)]
        status: SkillStatus,
    },
    /// Remove a skill permanently, with all its versions.
    #[command(after_help = "Example:\n  nightdesk skill delete --tenant acme brief --yes")]
    Delete {
        #[command(flatten)]
        which: SkillArgs,
        /// Confirm. It cannot be undone.
        #[arg(long)]
        yes: bool,
        /// Also if other skills mention it.
        #[arg(long)]
        force: bool,
    },
    /// Show the history of a skill, newest first.
    #[command(after_help = "Example:\n  nightdesk skill history --tenant acme brief")]
    History(SkillArgs),
    /// Create a key that approves skills: the private key in a file, the public key beside it.
    #[command(after_help = "Example:\n  nightdesk skill key --out approval.key")]
    Key {
        /// The file to create. The public key gets the same name with `.pub`.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Require a key's signature to approve a tenant's skills, or let their authors approve them.
    #[command(
        after_help = "Example:\n  nightdesk skill secure --tenant acme --public-key approval.key.pub"
    )]
    Secure {
        /// The tenant of the skills, by name or id.
        #[arg(long)]
        tenant: String,
        /// The file with the public key.
        #[arg(long, value_name = "FILE", required_unless_present = "off")]
        public_key: Option<PathBuf>,
        /// Let authors approve their skills.
        #[arg(long, conflicts_with = "public_key")]
        off: bool,
    },
    /// Sign a skill with a key on this machine, and approve it.
    #[command(
        after_help = "Example:\n  nightdesk skill approve --tenant acme brief --key-file approval.key"
    )]
    Approve {
        #[command(flatten)]
        which: SkillArgs,
        /// The file with the private key.
        #[arg(long, value_name = "FILE")]
        key_file: PathBuf,
        /// Only if the skill still has this version.
        #[arg(long)]
        version: Option<String>,
    },
    /// Check that a skill may be run, and say why not. Fails if it may not.
    #[command(after_help = "Example:\n  nightdesk skill verify --tenant acme brief")]
    Verify(SkillArgs),
}

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

/// The skill that a command is about.
#[derive(Debug, Args)]
pub(crate) struct SkillArgs {
    #[command(flatten)]
    place: SkillPlace,
    /// The skill's name.
    name: String,
}

fn status(text: &str) -> Result<SkillStatus, String> {
    SkillStatus::from_header(text)
        .ok_or_else(|| format!("`{text}` is not a status; use Draft, Approved or Disabled"))
}

/// A skill store and its approval mode.
struct OpenShelf {
    skills: Box<dyn SkillStore>,
    approval: Approval,
}

/// Runs a command about skills.
pub(super) async fn run(
    register: &Register,
    pg: &Arc<Pg>,
    command: SkillSubcommand,
) -> anyhow::Result<CommandOutput> {
    let on = SkillContext { register, pg };
    match command {
        SkillSubcommand::List { place, status, author } => on.list(&place, status, author).await,
        SkillSubcommand::Show { which, version } => on.show(&which, version.as_deref()).await,
        SkillSubcommand::Write { which, file, status } => on.write(&which, &file, status).await,
        SkillSubcommand::Status { which: SkillArgs { place, name }, status } => {
            let changed = on.shelf(&place).await?.skills.update_status(&name, status).await?;
            Ok(CommandOutput::One(serde_json::to_value(changed)?))
        }
        SkillSubcommand::Delete { which, yes, force } => on.delete(&which, yes, force).await,
        SkillSubcommand::History(SkillArgs { place, name }) => {
            let versions = on.shelf(&place).await?.skills.versions(&name).await?;
            let rows: Result<_, _> = versions.into_iter().map(serde_json::to_value).collect();
            Ok(CommandOutput::Many(rows?))
        }
        SkillSubcommand::Key { out } => signing::make(&out),
        SkillSubcommand::Secure { tenant, public_key, off: _ } => {
            on.secure(&tenant, public_key.as_deref()).await
        }
        SkillSubcommand::Approve { which, key_file, version } => {
            on.approve(&which, &key_file, version.as_deref()).await
        }
        SkillSubcommand::Verify(which) => on.verify(&which).await,
    }
}

/// The stores that commands use.
struct SkillContext<'a> {
    register: &'a Register,
    pg: &'a Arc<Pg>,
}

impl SkillContext<'_> {
    async fn shelf(&self, place: &SkillPlace) -> anyhow::Result<OpenShelf> {
        if let Some(folder) = &place.folder {
            let approval = match &place.approved_by {
                Some(file) => Approval::Secured(public_key(file)?),
                None => Approval::Unsecured,
            };
            let clock = Arc::new(SystemClock::start());
            let skills = FolderSkills::open(folder, approval.clone(), clock)?;
            return Ok(OpenShelf { skills: Box::new(skills), approval });
        }
        let tenant = place.tenant.as_deref().context("give --tenant or --folder")?;
        let scope = names::tenant(self.register, tenant).await?;
        let approval = self.pg.shelf(scope).await?.approval;
        let skills = TenantSkills::new(Arc::<Pg>::clone(self.pg), scope);
        Ok(OpenShelf { skills: Box::new(skills), approval })
    }

    async fn list(
        &self,
        place: &SkillPlace,
        status: Option<SkillStatus>,
        author: Option<String>,
    ) -> anyhow::Result<CommandOutput> {
        let status = status.map(OneOrMany::One);
        let filter = SkillFilter { status, author, ..SkillFilter::default() };
        let found = self.shelf(place).await?.skills.query(&filter).await?;
        Ok(CommandOutput::Many(found.iter().map(skill_json).collect()))
    }

    async fn show(
        &self,
        SkillArgs { place, name }: &SkillArgs,
        version: Option<&str>,
    ) -> anyhow::Result<CommandOutput> {
        let skill = self.shelf(place).await?.skills.load(name, version).await?;
        let text = skill.source.trim_end_matches('\n').to_owned();
        Ok(CommandOutput::Told { data: serde_json::to_value(skill)?, text })
    }

    async fn write(
        &self,
        SkillArgs { place, name }: &SkillArgs,
        file: &Path,
        status: Option<SkillStatus>,
    ) -> anyhow::Result<CommandOutput> {
        let source = std::fs::read_to_string(file)
            .with_context(|| format!("could not read {}", file.display()))?;
        let patch = SkillPatch { status, ..SkillPatch::default() };
        let written = self.shelf(place).await?.skills.store(name, &source, &patch).await?;
        Ok(CommandOutput::One(serde_json::to_value(written)?))
    }

    async fn delete(
        &self,
        SkillArgs { place, name }: &SkillArgs,
        yes: bool,
        force: bool,
    ) -> anyhow::Result<CommandOutput> {
        let there = self.shelf(place).await?;
        there.skills.metadata(name).await?;
        let others = dependents(&*there.skills, name).await?;
        ensure!(
            others.is_empty() || force,
            "{name} is mentioned by {}; change those skills first, or use --force",
            others.join(", ")
        );
        ensure!(yes, "this cannot be undone; repeat the command with --yes to confirm");
        there.skills.delete(name).await?;
        Ok(CommandOutput::One(json!({ "name": name, "deleted": true, "mentioned_by": others })))
    }

    async fn secure(&self, tenant: &str, file: Option<&Path>) -> anyhow::Result<CommandOutput> {
        let scope = names::tenant(self.register, tenant).await?;
        let approval = match file {
            Some(file) => Approval::Secured(public_key(file)?),
            None => Approval::Unsecured,
        };
        self.pg.secure_shelf(scope, &approval).await?;
        let secured = approval != Approval::Unsecured;
        Ok(CommandOutput::One(json!({ "tenant_id": scope.tenant(), "secured": secured })))
    }

    async fn approve(
        &self,
        SkillArgs { place, name }: &SkillArgs,
        key_file: &Path,
        version: Option<&str>,
    ) -> anyhow::Result<CommandOutput> {
        let key = signing::read(key_file)?;
        let there = self.shelf(place).await?;
        let skill = there.skills.load(name, None).await?;
        if let Some(version) = version.filter(|version| *version != skill.version) {
            bail!("{name} is now {}, not {version}; read it again", skill.version);
        }
        if let Approval::Secured(public) = &there.approval {
            ensure!(
                *public == key.public(),
                "another key approves the skills there; sign with the key of `nightdesk skill secure`"
            );
        }
        let patch = SkillPatch { status: Some(SkillStatus::Approved), ..SkillPatch::default() };
        let signed = key.approve(&skill.source);
        let approved: VersionInfo = there.skills.store(name, &signed, &patch).await?;
        Ok(CommandOutput::One(serde_json::to_value(approved)?))
    }

    async fn verify(&self, SkillArgs { place, name }: &SkillArgs) -> anyhow::Result<CommandOutput> {
        let OpenShelf { skills, approval } = self.shelf(place).await?;
        let skill = skills.load(name, None).await?;
        let judged = approval.check(&skill.source);
        let data = json!({
            "name": name,
            "version": skill.version,
            "status": skill.metadata.status,
            "secured": approval != Approval::Unsecured,
            "may_run": judged.is_ok(),
            "why_not": judged.err(),
        });
        Ok(CommandOutput::Checked { data, wrong: usize::from(judged.is_err()) })
    }
}

/// Returns the fields of a skill in a list.
fn skill_json(skill: &SkillMeta) -> Value {
    json!({
        "name": skill.name,
        "status": skill.status,
        "version": skill.version,
        "author": skill.author,
        "description": skill.description,
    })
}

fn public_key(file: &Path) -> anyhow::Result<PublicKey> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read {}", file.display()))?;
    PublicKey::from_pem(&text).with_context(|| format!("{} cannot be used", file.display()))
}
