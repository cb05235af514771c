//! Commands about the desk's own signing keys and the sessions of agents.

use clap::Subcommand;
use serde_json::json;

use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

#[derive(Debug, Subcommand)]
pub(crate) enum IssuerSubcommand {
    /// List the keys that sign the desk's tokens.
    #[command(after_help = "Example:\n  nightdesk issuer keys")]
    Keys,
    /// Retire a key at once: no token that it signed is accepted any more.
    #[command(after_help = "Example:\n  nightdesk issuer retire 3vLq…")]
    Retire {
        /// The key's name, as `issuer keys` shows it.
        #[arg(allow_hyphen_values = true)]
        kid: String,
    },
    /// Print a token whose bearer speaks for one agent, for an hour.
    #[command(after_help = "Example:\n  nightdesk issuer token --tenant acme --agent helper")]
    Token {
        #[command(flatten)]
        whose: AgentArgs,
    },
    /// Begin a session for an unattended agent, and show its credentials once.
    #[command(after_help = "Example:\n  nightdesk issuer session --tenant acme --agent helper")]
    Session {
        #[command(flatten)]
        whose: AgentArgs,
    },
    /// Record that a session of another issuer belongs to an agent.
    #[command(
        after_help = "Example:\n  nightdesk issuer bind --tenant acme --agent helper --issuer https://login.example.org 5b1e…"
    )]
    Bind {
        #[command(flatten)]
        whose: AgentArgs,
        /// The issuer, as its tokens name it.
        #[arg(long)]
        issuer: String,
        /// The issuer's id for the session: `sid` in its tokens.
        session: String,
    },
    /// End a session: no token of it is accepted any more.
    #[command(after_help = "Example:\n  nightdesk issuer end --tenant acme 5b1e…")]
    End {
        /// The tenant, by name or id.
        #[arg(long)]
        tenant: String,
        /// The issuer, if it is not this desk.
        #[arg(long)]
        issuer: Option<String>,
        /// The session, as `issuer session` showed it.
        session: String,
    },
}

/// The members of a signing key in a list.
const KEY_COLUMNS: &[&str] = &["kid", "algorithm", "used_from", "retired"];

/// Runs a command about issuers.
pub(super) async fn run(
    desk: &DeskClient,
    command: IssuerSubcommand,
) -> anyhow::Result<CommandOutput> {
    let data = match command {
        IssuerSubcommand::Keys => {
            return desk.list(ApiRequest::get(&["admin", "signing-keys"]), KEY_COLUMNS).await;
        }
        IssuerSubcommand::Retire { kid } => {
            desk.call(ApiRequest::post(&["admin", "signing-keys", &kid, "retire"])).await?
        }
        IssuerSubcommand::Token { whose } => {
            desk.call(ApiRequest::post(&whose.path(&["token"]))).await?
        }
        IssuerSubcommand::Session { whose } => {
            return begin_session(desk, &whose).await;
        }
        IssuerSubcommand::Bind { whose, issuer, session } => {
            let request = ApiRequest::put(&whose.path(&["sessions", &session]));
            desk.call(request.with_body(json!({ "issuer": issuer }))).await?
        }
        IssuerSubcommand::End { tenant, issuer, session } => {
            let request = ApiRequest::delete(&["tenants", &tenant, "sessions", &session]);
            desk.call(request.with("issuer", issuer.unwrap_or_default())).await?
        }
    };
    Ok(CommandOutput::One(data))
}

/// Begins a session, and shows its credentials in the format of the stock client's file.
async fn begin_session(desk: &DeskClient, whose: &AgentArgs) -> anyhow::Result<CommandOutput> {
    let data = desk.call(ApiRequest::post(&whose.path(&["sessions"]))).await?;
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    let (session, url, file) = (text("session"), text("portal_url"), &data["auth"]);
    let text = format!(
        "Session {session}. On the agent's machine, put this into ~/.hermes/auth.json:\n\
         \n\
         {file}\n\
         \n\
         and set, before it starts:\n\
         \n\
         export HERMES_PORTAL_BASE_URL={url}\n\
         export GATEWAY_RELAY_URL={url}\n\
         \n\
         The agent then provisions itself at every boot, and renews its access, until\n\
         `nightdesk issuer end` ends the session."
    );
    Ok(CommandOutput::Told { data, text })
}
