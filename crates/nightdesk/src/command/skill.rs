//! Commands about skills. Only this command line signs: the desk has no private key.

mod place;
mod signing;

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use nightdesk_office::SkillSignature;
use nightdesk_shelf::SkillStatus;
use serde_json::json;

use self::place::{PlacedSkills, SkillPlace, read_public_key};
use crate::desk_client::{ApiRequest, DeskClient};
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

/// The members of a skill in a list.
const SKILL_COLUMNS: &[&str] = &["name", "status", "version", "author", "description"];

/// The members of a change in a skill's history.
const SKILL_CHANGE_COLUMNS: &[&str] =
    &["version", "status", "previous_status", "changed_at", "changed_by"];

impl SkillSubcommand {
    /// Returns true if the command works on this machine alone, without a desk.
    pub(super) const fn is_local(&self) -> bool {
        match self {
            Self::Key { .. } => true,
            Self::Secure { .. } => false,
            Self::List { place, .. } => place.is_folder(),
            Self::Show { which, .. }
            | Self::Write { which, .. }
            | Self::Status { which, .. }
            | Self::Delete { which, .. }
            | Self::History(which)
            | Self::Approve { which, .. }
            | Self::Verify(which) => which.place.is_folder(),
        }
    }
}

/// Runs a command about a tenant's skills.
pub(super) async fn run(
    desk: &DeskClient,
    command: SkillSubcommand,
) -> anyhow::Result<CommandOutput> {
    execute(Some(desk), command).await
}

/// Runs a command that needs no desk.
pub(super) async fn run_locally(command: SkillSubcommand) -> anyhow::Result<CommandOutput> {
    execute(None, command).await
}

async fn execute(
    desk: Option<&DeskClient>,
    command: SkillSubcommand,
) -> anyhow::Result<CommandOutput> {
    let data = match command {
        SkillSubcommand::List { place, status, author } => {
            let rows = place.open(desk)?.list(status, author.as_deref()).await?;
            return Ok(CommandOutput::Table { rows, columns: SKILL_COLUMNS });
        }
        SkillSubcommand::Show { which: SkillArgs { place, name }, version } => {
            let data = place.open(desk)?.load(&name, version.as_deref()).await?;
            let source = data["source"].as_str().unwrap_or_default();
            let text = source.trim_end_matches('\n').to_owned();
            return Ok(CommandOutput::Told { data, text });
        }
        SkillSubcommand::Write { which: SkillArgs { place, name }, file, status } => {
            let source = std::fs::read_to_string(&file)
                .with_context(|| format!("could not read {}", file.display()))?;
            place.open(desk)?.write(&name, &source, status).await?
        }
        SkillSubcommand::Status { which: SkillArgs { place, name }, status } => {
            place.open(desk)?.set_status(&name, status).await?
        }
        SkillSubcommand::Delete { which: SkillArgs { place, name }, yes, force } => {
            ensure!(yes, "this cannot be undone; repeat the command with --yes to confirm");
            place.open(desk)?.remove(&name, force).await?
        }
        SkillSubcommand::History(SkillArgs { place, name }) => {
            let rows = place.open(desk)?.history(&name).await?;
            return Ok(CommandOutput::Table { rows, columns: SKILL_CHANGE_COLUMNS });
        }
        SkillSubcommand::Key { out } => return signing::make(&out),
        SkillSubcommand::Secure { tenant, public_key, off: _ } => {
            let desk = desk.context("name a desk with --desk")?;
            return secure(desk, &tenant, public_key.as_deref()).await;
        }
        SkillSubcommand::Approve { which: SkillArgs { place, name }, key_file, version } => {
            return approve(&place.open(desk)?, &name, &key_file, version).await;
        }
        SkillSubcommand::Verify(SkillArgs { place, name }) => {
            let data = place.open(desk)?.check(&name).await?;
            let wrong = usize::from(data["may_run"] != true);
            return Ok(CommandOutput::Checked { data, wrong });
        }
    };
    Ok(CommandOutput::One(data))
}

/// Requires a key to approve a tenant's skills, or none.
async fn secure(
    desk: &DeskClient,
    tenant: &str,
    public_key: Option<&Path>,
) -> anyhow::Result<CommandOutput> {
    let path = ["tenants", tenant, "skill-key"];
    let request = match public_key {
        Some(file) => {
            let key = read_public_key(file)?.to_pem();
            ApiRequest::put(&path).with_body(json!({ "public_key": key }))
        }
        None => ApiRequest::delete(&path),
    };
    Ok(CommandOutput::One(desk.call(request).await?))
}

/// Signs a skill with a private key, which stays in this process, and sends the signature.
async fn approve(
    skills: &PlacedSkills<'_>,
    name: &str,
    key_file: &Path,
    version: Option<String>,
) -> anyhow::Result<CommandOutput> {
    let key = signing::read(key_file)?;
    let skill = skills.load(name, None).await?;
    let text = |member: &str| skill[member].as_str().unwrap_or_default();
    let signature = key.proof(text("source"));
    let version = version.unwrap_or_else(|| text("version").to_owned());
    let signed = SkillSignature { version, signature };
    Ok(CommandOutput::One(skills.approve(name, &signed).await?))
}
