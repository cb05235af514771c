//! Commands about an agent's inbox.

use anyhow::ensure;
use clap::{Args, Subcommand};
use serde_json::json;

use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

#[derive(Debug, Subcommand)]
pub(crate) enum InboxSubcommand {
    /// List waiting and parked entries, without their content.
    #[command(after_help = "Example:\n  nightdesk inbox list --tenant acme --agent helper")]
    List {
        #[command(flatten)]
        whose: AgentArgs,
        /// Begin after this number: the last one of the previous page.
        #[arg(long, default_value_t = 0, value_name = "SEQ")]
        after: i64,
    },
    /// Show one entry: its source and its state.
    #[command(after_help = "Example:\n  nightdesk inbox show --tenant acme --agent helper --seq 7")]
    Show {
        #[command(flatten)]
        which: EntryArgs,
        /// Also show its content.
        #[arg(long)]
        body: bool,
    },
    /// Put a parked entry into the inbox again, under a new number.
    #[command(
        after_help = "Example:\n  nightdesk inbox resubmit --tenant acme --agent helper --seq 7"
    )]
    Resubmit(EntryArgs),
    /// Park a waiting entry, so that the entries behind it get through.
    #[command(after_help = "Example:\n  nightdesk inbox park --tenant acme --agent helper --seq 7")]
    Park(EntryArgs),
    /// Remove a parked entry for good.
    #[command(
        after_help = "Example:\n  nightdesk inbox drop --tenant acme --agent helper --seq 7 --yes"
    )]
    Drop {
        #[command(flatten)]
        which: EntryArgs,
        /// Confirm it.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct EntryArgs {
    #[command(flatten)]
    whose: AgentArgs,
    /// The entry's number.
    #[arg(long)]
    seq: i64,
}

/// The members of an entry in a list.
const ENTRY_COLUMNS: &[&str] =
    &["seq", "at", "bot_id", "chat_id", "body_bytes", "reason", "parked_at", "resubmitted_as"];

/// Runs a command about an inbox.
pub(super) async fn run(
    desk: &DeskClient,
    command: InboxSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        InboxSubcommand::List { whose, after } => {
            let path = ["tenants", &whose.tenant, "agents", &whose.agent, "inbox"];
            let data = desk.call(ApiRequest::get(&path).with("after", after)).await?;
            Ok(CommandOutput::Page {
                data,
                lists: &[("waiting", ENTRY_COLUMNS), ("parked", ENTRY_COLUMNS)],
            })
        }
        InboxSubcommand::Show { which, body } => {
            let seq = which.seq.to_string();
            let request = ApiRequest::get(&which.path(&seq)).with("body", body);
            Ok(CommandOutput::One(desk.call(request).await?))
        }
        InboxSubcommand::Resubmit(which) => which.act(desk, "resubmit").await,
        InboxSubcommand::Park(which) => which.act(desk, "park").await,
        InboxSubcommand::Drop { which, yes } => {
            ensure!(yes, "the message is lost for good; repeat the command with --yes to confirm");
            let seq = which.seq.to_string();
            let path = [&which.path(&seq)[..], &["drop"]].concat();
            let request = ApiRequest::post(&path).with_body(json!({ "confirm": seq }));
            desk.call(request).await?;
            Ok(CommandOutput::One(json!({ "dropped": which.seq })))
        }
    }
}

impl EntryArgs {
    fn path<'a>(&'a self, seq: &'a str) -> [&'a str; 6] {
        ["tenants", &self.whose.tenant, "agents", &self.whose.agent, "inbox", seq]
    }

    async fn act(&self, desk: &DeskClient, act: &str) -> anyhow::Result<CommandOutput> {
        let seq = self.seq.to_string();
        let path = [&self.path(&seq)[..], &[act]].concat();
        Ok(CommandOutput::One(desk.call(ApiRequest::post(&path)).await?))
    }
}
