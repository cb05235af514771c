//! Commands about letters between agents.

use std::time::Duration;

use clap::{Args, Subcommand};
use nightdesk_types::limits::{LETTER_PUT_LOOKED_EVERY, LETTER_PUT_WAIT, REPLY_LOOKED_EVERY};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::{self, CommandOutput};

#[derive(Debug, Subcommand)]
pub(crate) enum LetterSubcommand {
    /// Send a letter from one agent to another of the same tenant. A sleeping agent is woken.
    #[command(
        after_help = "Example:\n  nightdesk letter send --tenant acme --agent helper owl 'How is the weather?' --wait 60s"
    )]
    Send {
        #[command(flatten)]
        whose: AgentArgs,
        /// The recipient, by name or id.
        to: String,
        /// The text.
        words: String,
        /// Wait this long for the reply: 30s or 5m.
        #[arg(long, value_parser = ui::span, value_name = "SPAN")]
        wait: Option<Duration>,
        /// Idempotency key: the same key again is the same letter.
        #[arg(long, value_name = "ID")]
        dispatch_id: Option<String>,
    },
    /// List letters that an agent sent, newest first.
    #[command(after_help = "Example:\n  nightdesk letter list --tenant acme --agent helper")]
    List {
        #[command(flatten)]
        whose: AgentArgs,
        /// Only letters older than the letter of this id.
        #[arg(long, value_name = "LETTER")]
        before: Option<String>,
    },
    /// Show a letter that an agent sent, and its result.
    #[command(after_help = "Example:\n  nightdesk letter show --tenant acme --agent helper 0193…")]
    Show {
        #[command(flatten)]
        whose: AgentArgs,
        /// The letter's id.
        id: String,
    },
    /// Create a webhook by which other programs send letters as an agent. Its secret is shown once.
    #[command(
        after_help = "Example:\n  nightdesk letter hook --tenant acme --agent helper runtime"
    )]
    Hook {
        #[command(flatten)]
        whose: AgentArgs,
        /// The webhook's name.
        name: String,
    },
    /// List the webhooks by which other programs send letters.
    #[command(after_help = "Example:\n  nightdesk letter hooks --tenant acme")]
    Hooks {
        /// The tenant, by name or id.
        #[arg(long)]
        tenant: String,
    },
    /// Remove a webhook: its secret sends no letters any more.
    #[command(after_help = "Example:\n  nightdesk letter unhook --tenant acme runtime")]
    Unhook {
        /// The tenant, by name or id.
        #[arg(long)]
        tenant: String,
        /// The webhook's name.
        name: String,
    },
}

/// Two agents of two tenants.
#[derive(Debug, Args)]
pub(crate) struct AgentPairArgs {
    #[command(flatten)]
    whose: AgentArgs,
    /// The other agent's tenant, by name or id.
    #[arg(long, value_name = "TENANT")]
    peer_tenant: String,
    /// The other agent, by name or id.
    #[arg(long, value_name = "AGENT")]
    peer_agent: String,
}

/// The members of a letter in a list.
const LETTER_COLUMNS: &[&str] =
    &["letter_id", "to_agent_id", "dispatch_id", "state", "acked", "sent_at", "replied_at"];

/// The members of a webhook in a list.
const LETTER_HOOK_COLUMNS: &[&str] = &["name", "agent_id"];

/// The members of a grant for letters in a list.
const LETTER_GRANT_COLUMNS: &[&str] =
    &["agent_id", "peer_tenant_id", "peer_agent_id", "both_sides"];

/// Runs a command about letters.
pub(super) async fn run(
    desk: &DeskClient,
    command: LetterSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        LetterSubcommand::Send { whose, to, words, wait, dispatch_id } => {
            let body = json!({
                "to": to,
                "text": words,
                "wait_secs": wait.map(|wait| wait.as_secs()),
                "dispatch_id": dispatch_id,
            });
            let request = ApiRequest::post(&whose.path(&["letters"])).with_body(body);
            let sent = desk.call(request).await?;
            Ok(CommandOutput::One(wait_until_settled(desk, &whose, sent, wait).await?))
        }
        LetterSubcommand::List { whose, before } => {
            let request = ApiRequest::get(&whose.path(&["letters"]))
                .with("before", before.as_deref().unwrap_or_default());
            desk.list(request, LETTER_COLUMNS).await
        }
        LetterSubcommand::Show { whose, id } => {
            Ok(CommandOutput::One(read_letter(desk, &whose, &id).await?))
        }
        LetterSubcommand::Hook { whose, name } => {
            let request =
                ApiRequest::post(&whose.path(&["letter-hooks"])).with_body(json!({ "name": name }));
            Ok(CommandOutput::One(desk.call(request).await?))
        }
        LetterSubcommand::Hooks { tenant } => {
            let path = ["tenants", &tenant, "letter-hooks"];
            desk.list(ApiRequest::get(&path), LETTER_HOOK_COLUMNS).await
        }
        LetterSubcommand::Unhook { tenant, name } => {
            let path = ["tenants", &tenant, "letter-hooks", &name];
            desk.call(ApiRequest::delete(&path)).await?;
            Ok(CommandOutput::One(json!({ "name": name, "removed": true })))
        }
    }
}

async fn read_letter(desk: &DeskClient, whose: &AgentArgs, id: &str) -> anyhow::Result<Value> {
    desk.call(ApiRequest::get(&whose.path(&["letters", id]))).await
}

/// Reads a letter until it is delivered, and until its end if the sender waits for the reply. The desk delivers in time, so
/// a letter that is not settled then has its state of now.
async fn wait_until_settled(
    desk: &DeskClient,
    whose: &AgentArgs,
    mut letter: Value,
    wait: Option<Duration>,
) -> anyhow::Result<Value> {
    let delivered_by = Instant::now() + LETTER_PUT_WAIT;
    let settled_by = delivered_by + wait.unwrap_or_default();
    loop {
        let pause = match letter["state"].as_str() {
            Some("scheduled") if Instant::now() < delivered_by => LETTER_PUT_LOOKED_EVERY,
            Some("put") if wait.is_some() && Instant::now() < settled_by => REPLY_LOOKED_EVERY,
            _ => return Ok(letter),
        };
        sleep(pause).await;
        let id = letter["letter_id"].as_str().unwrap_or_default().to_owned();
        letter = read_letter(desk, whose, &id).await?;
    }
}

/// Grants letters between agents of two tenants, for the first one's side.
pub(super) async fn grant(
    desk: &DeskClient,
    between: &AgentPairArgs,
) -> anyhow::Result<CommandOutput> {
    Ok(CommandOutput::One(desk.call(ApiRequest::put(&between.path())).await?))
}

/// Withdraws such a grant.
pub(super) async fn withdraw(
    desk: &DeskClient,
    between: &AgentPairArgs,
) -> anyhow::Result<CommandOutput> {
    Ok(CommandOutput::One(desk.call(ApiRequest::delete(&between.path())).await?))
}

/// Lists the grants that a tenant gave for letters with other tenants.
pub(super) async fn grants(desk: &DeskClient, tenant: &str) -> anyhow::Result<CommandOutput> {
    let request = ApiRequest::get(&["tenants", tenant, "letter-grants"]);
    desk.list(request, LETTER_GRANT_COLUMNS).await
}

impl AgentPairArgs {
    fn path(&self) -> Vec<&str> {
        self.whose.path(&["letter-grants", &self.peer_tenant, &self.peer_agent])
    }
}
