//! Commands about letters between agents.

mod sending;
mod output;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use nightdesk_letters::{Grants, Hooks, LetterStore, Party, hook_key, new_id};
use nightdesk_register::Register;
use nightdesk_store_pg::Pg;
use nightdesk_types::{LetterId, TenantScope};
use serde_json::{Value, json};

use super::names::{self, AgentArgs};
use crate::config::Config;
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

/// Runs a command about letters.
pub(super) async fn run(
    config: &Config,
    register: &Register,
    pg: &Arc<Pg>,
    command: LetterSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        LetterSubcommand::Send { whose, to, words, wait, dispatch_id } => {
            let from = party(register, &whose).await?;
            let to = AgentArgs { tenant: whose.tenant.clone(), agent: to };
            let to = party(register, &to).await?;
            let letter = sending::letter(from, to, wait, dispatch_id)?;
            sending::send(pg, &letter, &whose.agent, &words).await
        }
        LetterSubcommand::List { whose, before } => {
            let before = before.map(|id| read(&id)).transpose()?;
            let letters = pg.letters(party(register, &whose).await?, before).await?;
            Ok(CommandOutput::Many(letters.iter().map(output::letter).collect()))
        }
        LetterSubcommand::Show { whose, id } => {
            let found = pg.letter(party(register, &whose).await?, read(&id)?).await?;
            let found = found
                .context("the agent sent no such letter; `nightdesk letter list` shows them")?;
            Ok(CommandOutput::One(output::letter(&found)))
        }
        LetterSubcommand::Hook { whose, name } => {
            hook(config, pg, party(register, &whose).await?, &name).await
        }
        LetterSubcommand::Hooks { tenant } => {
            let hooks = pg.hooks(names::tenant(register, &tenant).await?).await?;
            let shown =
                |(name, party): &(String, Party)| json!({ "name": name, "agent_id": party.agent });
            Ok(CommandOutput::Many(hooks.iter().map(shown).collect()))
        }
        LetterSubcommand::Unhook { tenant, name } => {
            let removed = pg.remove_hook(names::tenant(register, &tenant).await?, &name).await?;
            ensure!(
                removed,
                "there is no webhook called {name}; `nightdesk letter hooks` shows them"
            );
            Ok(CommandOutput::One(json!({ "name": name, "removed": true })))
        }
    }
}

async fn party(register: &Register, whose: &AgentArgs) -> anyhow::Result<Party> {
    let (scope, agent) = whose.resolve(register).await?;
    Ok(Party { scope, agent })
}

fn read(id: &str) -> anyhow::Result<LetterId> {
    id.parse().with_context(|| format!("`{id}` is not the id of a letter"))
}

async fn hook(config: &Config, pg: &Pg, party: Party, name: &str) -> anyhow::Result<CommandOutput> {
    let secret = [new_id(), new_id()].concat().replace('-', "");
    let made = pg.make_hook(party, name, hook_key(&secret)).await?;
    ensure!(made, "a webhook called {name} exists; choose another name, or remove it first");
    let at = |what: &str| format!("{}/v1/webhook/{secret}/{what}", config.public_url());
    Ok(CommandOutput::One(json!({
        "name": name,
        "agent_id": party.agent,
        "url": at("deliver"),
        "wake_url": at("wake"),
        "status_url": at("status"),
        "secret": secret,
        "next": "give the secret as HTTP_WEBHOOK_AUTH (`Bearer SECRET`) or HTTP_WEBHOOK_HMAC_SECRET",
    })))
}

/// Allows letters between agents of two tenants, or withdraws the permission.
pub(super) async fn grant(
    register: &Register,
    pg: &Pg,
    between: &AgentPairArgs,
    allow: bool,
) -> anyhow::Result<CommandOutput> {
    let own = party(register, &between.whose).await?;
    let (tenant, agent) = (between.peer_tenant.clone(), between.peer_agent.clone());
    let peer = party(register, &AgentArgs { tenant, agent }).await?;
    ensure!(own.scope != peer.scope, "agents of one tenant may always write to each other");
    if allow {
        pg.grant(own, peer).await?;
    } else {
        ensure!(
            pg.release(own, peer).await?,
            "there is no such grant; `nightdesk grant list-letters` shows them"
        );
    }
    Ok(CommandOutput::One(json!({
        "agent_id": own.agent,
        "peer_tenant_id": peer.scope.tenant(),
        "peer_agent_id": peer.agent,
        "granted": allow,
        "next": "the other tenant must grant it too",
    })))
}

/// Returns the permissions that a tenant granted.
pub(super) async fn grants(pg: &Pg, scope: TenantScope) -> anyhow::Result<CommandOutput> {
    let shown = |grant: &nightdesk_letters::Grant| -> Value {
        json!({
            "agent_id": grant.party.agent,
            "peer_tenant_id": grant.peer.scope.tenant(),
            "peer_agent_id": grant.peer.agent,
            "both_sides": grant.is_mutual,
        })
    };
    Ok(CommandOutput::Many(pg.grants(scope, None).await?.iter().map(shown).collect()))
}
