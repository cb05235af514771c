//! Commands about the desk's own signing keys and the sessions of agents.

use std::sync::Arc;

use anyhow::{bail, ensure};
use clap::Subcommand;
use nightdesk_register::audit::Kind;
use nightdesk_register::issuer::{IssuerSession, TokenPair};
use nightdesk_register::{Issuer as Own, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::ACCESS_TOKEN_LIFE;
use nightdesk_types::{Clock, SystemClock, Timestamp};
use serde_json::json;

use super::names::AgentArgs;
use super::{list, names};
use crate::config::Config;
use crate::issuers;
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

/// Runs a command about issuers.
pub(super) async fn run(
    config: &Config,
    register: &Register,
    pg: &Arc<Pg>,
    command: IssuerSubcommand,
) -> anyhow::Result<CommandOutput> {
    let (own, now) =
        (issuers::own_issuer(config, pg, config.vault().await?), SystemClock::start().now());
    let store = register.store();
    match command {
        IssuerSubcommand::Keys => keys(&own, register, now).await,
        IssuerSubcommand::Retire { kid } => {
            let found = store.retire_signing_key(&kid).await?;
            ensure!(found, "there is no key called {kid}; `nightdesk issuer keys` shows them");
            Ok(CommandOutput::One(json!({ "kid": kid, "retired": true })))
        }
        IssuerSubcommand::Token { whose } => {
            let (scope, agent) = whose.resolve(register).await?;
            let about = json!({ "agent_id": agent });
            store.note(scope, Kind::AgentTokenMade, &about).await?;
            let token = own.agent_token(scope, agent, now).await?.with(str::to_owned);
            let expires_in_secs = ACCESS_TOKEN_LIFE.as_secs();
            Ok(CommandOutput::One(json!({ "token": token, "expires_in_secs": expires_in_secs })))
        }
        IssuerSubcommand::Session { whose } => {
            let (scope, agent) = whose.resolve(register).await?;
            let (session, grant) = own.begin_session(scope, agent, now).await?;
            Ok(session_output(&own, &session, &grant, now))
        }
        IssuerSubcommand::Bind { whose, issuer, session } => {
            let (scope, agent) = whose.resolve(register).await?;
            let known = config.issuers.iter().any(|known| known.url == issuer);
            ensure!(
                known,
                "{issuer} is not a trusted issuer; add it to `issuers` in the configuration"
            );
            let bound = IssuerSession { issuer: Some(issuer), id: session };
            if !store.begin_session(scope, agent, &bound, None).await? {
                bail!(
                    "session {} belongs to another agent, or has ended; use another session",
                    bound.id
                );
            }
            Ok(CommandOutput::One(json!({ "agent_id": agent, "session": bound.id })))
        }
        IssuerSubcommand::End { tenant, issuer, session } => {
            let scope = names::tenant(register, &tenant).await?;
            let ended = IssuerSession { issuer, id: session };
            let found = store.end_session(scope, &ended).await?;
            ensure!(found, "the tenant has no session called {}", ended.id);
            Ok(CommandOutput::One(json!({ "session": ended.id, "ended": true })))
        }
    }
}

async fn keys(own: &Own, register: &Register, now: Timestamp) -> anyhow::Result<CommandOutput> {
    // Creates the first key, or the next one if it is due.
    own.jwks(now).await?;
    let keys = register.store().signing_keys().await?;
    let row = |key: &nightdesk_register::issuer::StoredKey| {
        json!({
            "kid": key.kid, "algorithm": key.algorithm.slug(),
            "used_from": list::format_second(key.used_from), "retired": key.retired,
        })
    };
    Ok(CommandOutput::Many(keys.iter().map(row).collect()))
}

/// Returns the session's credentials in the format of the stock client's file.
fn session_output(
    own: &Own,
    session: &IssuerSession,
    grant: &TokenPair,
    now: Timestamp,
) -> CommandOutput {
    let expires_at = now.checked_add(ACCESS_TOKEN_LIFE).unwrap_or(now).to_string();
    let url = own.url();
    let file = json!({ "version": 1, "providers": { "nous": {
        "access_token": grant.access.with(str::to_owned),
        "refresh_token": grant.refresh.with(str::to_owned),
        "expires_at": expires_at, "client_id": "nightdesk", "portal_base_url": url,
    }}});
    let text = format!(
        "Session {}. On the agent's machine, put this into ~/.hermes/auth.json:\n\
         \n\
         {file}\n\
         \n\
         and set, before it starts:\n\
         \n\
         export HERMES_PORTAL_BASE_URL={url}\n\
         export GATEWAY_RELAY_URL={url}\n\
         \n\
         The agent then provisions itself at every boot, and renews its access, until\n\
         `nightdesk issuer end` ends the session.",
        session.id
    );
    CommandOutput::Told {
        data: json!({ "session": session.id, "auth": file, "portal_url": url }),
        text,
    }
}
