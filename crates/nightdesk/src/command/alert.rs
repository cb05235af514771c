//! `nightdesk alert`: alerts, and the ways on which they go out.

use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Value, json};

use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// The members of an alert in a list.
const ALERT_COLUMNS: &[&str] =
    &["state", "kind", "tenant", "headline", "samples", "since", "opened_at", "resolved_at"];

/// The members of a way in a list.
const WAY_COLUMNS: &[&str] = &["way_id", "kind", "target", "coverage", "told_at", "failure"];

#[derive(Debug, Subcommand)]
pub(crate) enum AlertSubcommand {
    /// List the alerts of a tenant, or the open ones of the desk and of all tenants.
    #[command(after_help = "Example:\n  nightdesk alert list --tenant acme")]
    List(WayOwnerArgs),
    /// Manage the ways on which alerts go out.
    #[command(subcommand)]
    Way(AlertWaySubcommand),
    /// Send a test message on a way, and wait for its result.
    #[command(after_help = "Example:\n  nightdesk alert test 0193… --tenant acme")]
    Test {
        /// The way's id.
        way: String,
        #[command(flatten)]
        owner: WayOwnerArgs,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AlertWaySubcommand {
    /// List the ways of a tenant, or of the operator.
    #[command(after_help = "Example:\n  nightdesk alert way list --tenant acme")]
    List(WayOwnerArgs),
    /// Add a way: a URL, a mail address, or a chat. The secret of a URL is shown once.
    #[command(
        after_help = "Example:\n  nightdesk alert way add --tenant acme --mail ops@example.org\n  nightdesk alert way add --tenant acme --chat C42 --agent helper --bot 0193…\n  nightdesk alert way add --webhook https://ops.example.org/alerts --all-tenants"
    )]
    Add(NewWayArgs),
    /// Remove a way.
    #[command(after_help = "Example:\n  nightdesk alert way remove 0193… --tenant acme")]
    Remove {
        /// The way's id.
        way: String,
        #[command(flatten)]
        owner: WayOwnerArgs,
    },
}

/// The owner of alerts and ways.
#[derive(Debug, Args)]
pub(crate) struct WayOwnerArgs {
    /// The tenant, by name or id. Without it, the desk.
    #[arg(long)]
    tenant: Option<String>,
}

/// A way to add.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("target").required(true).args(["webhook", "mail", "chat"])))]
pub(crate) struct NewWayArgs {
    #[command(flatten)]
    owner: WayOwnerArgs,
    /// The URL to which alerts are posted.
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// The address to which they are mailed.
    #[arg(long, value_name = "ADDRESS")]
    mail: Option<String>,
    /// The chat in which they are written: its id on the platform.
    #[arg(long, requires_all = ["agent", "bot"])]
    chat: Option<String>,
    /// The agent in whose place the desk writes in the chat, by name or id.
    #[arg(long, requires = "chat")]
    agent: Option<String>,
    /// The bot through which the desk writes in the chat.
    #[arg(long, requires = "chat")]
    bot: Option<String>,
    /// The tenant of the agent, by name or id, for a way of the operator.
    #[arg(long, requires = "chat", conflicts_with = "tenant")]
    agent_tenant: Option<String>,
    /// Send the alerts of every tenant, too. Only for a way of the operator.
    #[arg(long, conflicts_with = "tenant")]
    all_tenants: bool,
}

impl WayOwnerArgs {
    /// Returns a path below the tenant, or below the desk.
    fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        let base = match &self.tenant {
            Some(tenant) => vec!["tenants", tenant],
            None => vec!["admin"],
        };
        [base.as_slice(), rest].concat()
    }
}

impl NewWayArgs {
    /// Returns the body of the request.
    fn body(&self) -> Value {
        let Self { webhook, mail, chat, agent, bot, agent_tenant, all_tenants, .. } = self;
        let chat = chat.as_ref().map(|chat_id| {
            json!({ "agent": agent, "bot": bot, "chat_id": chat_id, "tenant": agent_tenant })
        });
        json!({ "webhook": webhook, "mail": mail, "chat": chat, "all_tenants": all_tenants })
    }
}

/// Runs a command about alerts.
pub(super) async fn run(
    desk: &DeskClient,
    command: AlertSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        AlertSubcommand::List(owner) => {
            desk.list(ApiRequest::get(&owner.path(&["alerts"])), ALERT_COLUMNS).await
        }
        AlertSubcommand::Way(command) => run_way(desk, command).await,
        AlertSubcommand::Test { way, owner } => {
            let request = ApiRequest::post(&owner.path(&["alert-ways", &way, "test"]));
            Ok(CommandOutput::One(desk.call(request).await?))
        }
    }
}

async fn run_way(desk: &DeskClient, command: AlertWaySubcommand) -> anyhow::Result<CommandOutput> {
    match command {
        AlertWaySubcommand::List(owner) => {
            desk.list(ApiRequest::get(&owner.path(&["alert-ways"])), WAY_COLUMNS).await
        }
        AlertWaySubcommand::Add(new) => {
            let request = ApiRequest::post(&new.owner.path(&["alert-ways"])).with_body(new.body());
            Ok(CommandOutput::One(desk.call(request).await?))
        }
        AlertWaySubcommand::Remove { way, owner } => {
            let request = ApiRequest::delete(&owner.path(&["alert-ways", &way]));
            Ok(CommandOutput::One(desk.call(request).await?))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(subcommand)]
        command: AlertWaySubcommand,
    }

    fn read(words: &str) -> Result<(Vec<String>, Value), clap::Error> {
        let program = Program::try_parse_from(["alert-way"].into_iter().chain(words.split(' ')))?;
        let AlertWaySubcommand::Add(new) = program.command else { panic!("another command") };
        let path = new.owner.path(&["alert-ways"]).into_iter().map(str::to_owned).collect();
        Ok((path, new.body()))
    }

    #[test]
    fn a_way_has_one_target() {
        let (path, body) = read("add --tenant acme --chat c1 --agent owl --bot b").unwrap();
        assert_eq!(path, ["tenants", "acme", "alert-ways"]);
        assert_eq!((&body["chat"]["agent"], &body["mail"]), (&json!("owl"), &Value::Null));
        let (path, body) = read("add --mail ops@example.org --all-tenants").unwrap();
        assert_eq!(
            (path.join("/").as_str(), &body["all_tenants"]),
            ("admin/alert-ways", &json!(true))
        );
        for wrong in [
            "add",
            "add --mail a@b --webhook https://a.example",
            "add --chat c1 --agent owl",
            "add --mail a@b --agent owl",
            "add --tenant acme --mail a@b --all-tenants",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
