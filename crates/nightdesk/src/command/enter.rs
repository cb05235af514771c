//! Commands that enter who is who.

use std::sync::Arc;

use anyhow::{Context, bail};
use nightdesk_register::{Access, BotDraft, Register};
use nightdesk_types::{AgentId, BotId, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Value, json};

use super::{Agent, Binding, Bot, Bound, Command, Gateway, Grant, NewBot, Tenant};
use crate::config::{Config, password};
use crate::wiring;

/// Runs a command on the register, and answers what it entered.
pub(super) async fn run(config: &Config, command: Command) -> anyhow::Result<Value> {
    let register = Register::over(Arc::new(wiring::connect(config)?), config.vault()?);
    match command {
        Command::Tenant(Tenant::Create { name }) => {
            let tenant = register.create_tenant(&name).await?;
            Ok(json!({ "tenant_id": tenant }))
        }
        Command::Agent(Agent::Create { tenant, name }) => {
            let agent = register.store().create_agent(scope(&tenant)?, &name).await?;
            Ok(json!({ "agent_id": agent }))
        }
        Command::Bot(Bot::Create(bot)) => create_bot(&register, bot).await,
        Command::Binding(Binding::Create(bound)) => bind(&register, &bound).await,
        Command::Binding(Binding::Remove(bound)) => unbind(&register, &bound).await,
        Command::Grant(grant) => create_grant(&register, grant).await,
        Command::Gateway(gateway) => run_gateway(&register, gateway).await,
        Command::Serve | Command::Migrate | Command::Config(_) | Command::Key(_) => {
            bail!("not a command of the register")
        }
    }
}

async fn create_bot(register: &Register, bot: NewBot) -> anyhow::Result<Value> {
    let settings = serde_json::from_str(&bot.settings).context("--settings is not JSON")?;
    let draft = BotDraft {
        adapter: bot.adapter.unwrap_or_else(|| bot.platform.clone()),
        platform: bot.platform,
        handle: bot.handle,
        settings,
        key: password(bot.key_file.as_deref())?.map(Key::new),
    };
    let (id, path) = register.create_bot(scope(&bot.tenant)?, draft).await?;
    Ok(json!({ "bot_id": id, "path": path }))
}

async fn bind(register: &Register, bound: &Bound) -> anyhow::Result<Value> {
    let (agent, bot) = (agent(&bound.agent)?, bot(&bound.bot)?);
    register.store().bind(scope(&bound.tenant)?, agent, bot, &bound.author).await?;
    Ok(json!({ "agent_id": agent, "author": bound.author }))
}

async fn unbind(register: &Register, bound: &Bound) -> anyhow::Result<Value> {
    let (agent, bot) = (agent(&bound.agent)?, bot(&bound.bot)?);
    register.store().unbind(scope(&bound.tenant)?, agent, bot, &bound.author).await?;
    Ok(json!({ "agent_id": agent, "author": bound.author }))
}

async fn create_grant(register: &Register, grant: Grant) -> anyhow::Result<Value> {
    let Grant::Create { tenant, agent, bot, chat, open } = grant;
    let (agent, bot) = (self::agent(&agent)?, self::bot(&bot)?);
    let access = if open { Access::Any } else { Access::OwnerOnly };
    let free = register.store().grant(scope(&tenant)?, agent, bot, (&chat, access)).await?;
    if !free {
        bail!("chat {chat} is already given to an agent; only one may be reached there");
    }
    Ok(json!({ "agent_id": agent, "chat": chat }))
}

async fn run_gateway(register: &Register, gateway: Gateway) -> anyhow::Result<Value> {
    match gateway {
        Gateway::Create { tenant, agent, name } => {
            let agent = self::agent(&agent)?;
            let (_, secret) = register.create_gateway(scope(&tenant)?, agent, &name).await?;
            Ok(json!({ "gateway": name, "secret": secret.with(str::to_owned) }))
        }
        Gateway::Rotate { tenant, name, overlap } => {
            let secret = register.rotate(scope(&tenant)?, &name, overlap).await?;
            let secret = secret.with_context(|| no_gateway(&name))?;
            Ok(json!({ "gateway": name, "secret": secret.with(str::to_owned) }))
        }
        Gateway::Revoke { tenant, name } => {
            if !register.store().revoke(scope(&tenant)?, &name).await? {
                bail!(no_gateway(&name));
            }
            Ok(json!({ "gateway": name, "revoked": true }))
        }
    }
}

fn no_gateway(name: &str) -> String {
    format!("the tenant has no live gateway called {name}")
}

fn scope(tenant: &str) -> anyhow::Result<TenantScope> {
    let tenant: TenantId = tenant.parse().context("--tenant is not a tenant's id")?;
    Ok(TenantScope::of(tenant))
}

fn agent(agent: &str) -> anyhow::Result<AgentId> {
    agent.parse().context("--agent is not an agent's id")
}

fn bot(bot: &str) -> anyhow::Result<BotId> {
    bot.parse().context("--bot is not a bot's id")
}
