//! Commands that enter who is who.

use std::sync::Arc;

use anyhow::{Context, bail};
use nightdesk_register::{BotDraft, OnBot, Register, new_secret};
use nightdesk_store_pg::Pg;
use nightdesk_types::{BotId, Granted, Principal};
use nightdesk_vault::Key;
use nightdesk_wake::Wakers;
use serde_json::json;

use super::{
    Agent, Binding, Bot, Bound, Command, Grant, NewBot, Notice, Tenant, audit, gateway, inbox,
    list, names, quota, wake,
};
use crate::config::{Config, password};
use crate::ui::Answer;
use crate::wiring;

/// Runs a command on the register, and answers what it entered or found.
pub(super) async fn run(config: &Config, command: Command) -> anyhow::Result<Answer> {
    let pg = Arc::new(wiring::connect(config)?);
    let register = Register::over(Arc::<Pg>::clone(&pg), config.vault()?);
    match command {
        Command::Tenant(Tenant::Create { name }) => {
            let tenant = register.create_tenant(&name).await?;
            Ok(Answer::One(json!({ "tenant_id": tenant })))
        }
        Command::Tenant(Tenant::List(page)) => {
            let tenants = register.store().tenants(&page.after).await?;
            Ok(Answer::Many(tenants.iter().map(list::named).collect()))
        }
        Command::Tenant(Tenant::Quota { tenant, quotas }) => {
            quota::run(&register, &tenant, &quotas).await
        }
        Command::Agent(command) => agents(config, &register, &*pg, command).await,
        Command::Bot(Bot::Create(bot)) => create_bot(config, &register, bot).await,
        Command::Binding(Binding::Create(bound)) => bind(&register, &bound).await,
        Command::Binding(Binding::Remove(bound)) => unbind(&register, &bound).await,
        Command::Grant(grant) => create_grant(&register, grant).await,
        Command::Gateway(gateway) => gateway::run(&register, &config.public_url(), gateway).await,
        Command::Inbox(inbox) => inbox::run(&register, &*pg, inbox).await,
        Command::Wake(command) => wake::run(config, &register, &pg, command).await,
        Command::Audit(audit) => audit::run(config, &register, audit).await,
        Command::Notice(Notice::List { tenant }) => notices(&register, &*pg, &tenant).await,
        Command::Serve
        | Command::Dev { .. }
        | Command::Migrate
        | Command::Config(_)
        | Command::Verify(_)
        | Command::Key(_) => {
            bail!("not a command of the register")
        }
    }
}

async fn agents(
    config: &Config,
    register: &Register,
    wakers: &dyn Wakers,
    command: Agent,
) -> anyhow::Result<Answer> {
    match command {
        Agent::Create { tenant, name } => {
            let scope = names::tenant(register, &tenant).await?;
            let agent = register.store().create_agent(scope, &name).await?;
            Ok(Answer::One(json!({ "agent_id": agent })))
        }
        Agent::List { tenant, page } => {
            let scope = names::tenant(register, &tenant).await?;
            let agents = register.store().agents(scope, &page.after).await?;
            Ok(Answer::Many(agents.iter().map(list::named).collect()))
        }
        Agent::WakeUrl { whose, urls, clear } => {
            let whose = whose.found(register).await?;
            wake::urls(config, wakers, whose, &urls, clear).await
        }
    }
}

async fn notices(register: &Register, wakers: &dyn Wakers, tenant: &str) -> anyhow::Result<Answer> {
    let scope = names::tenant(register, tenant).await?;
    let notices = wakers.notices(scope).await?;
    Ok(Answer::Many(notices.iter().map(list::notice).collect()))
}

async fn create_bot(config: &Config, register: &Register, bot: NewBot) -> anyhow::Result<Answer> {
    let settings = serde_json::from_str(&bot.settings).context("--settings is not JSON")?;
    let adapter = bot.adapter.unwrap_or_else(|| bot.platform.clone());
    let given = password(bot.key_file.as_deref())?.map(Key::new);
    let has_page = adapter == nightdesk_webchat::NAME;
    let draft = BotDraft {
        adapter,
        platform: bot.platform,
        handle: bot.handle,
        settings,
        // A page's key is nobody's business but the desk's.
        key: given.or_else(|| has_page.then(new_secret)),
    };
    let scope = names::tenant(register, &bot.tenant).await?;
    let (id, path) = register.create_bot(scope, draft).await?;
    let mut answer = json!({ "bot_id": id, "path": path });
    if has_page {
        answer["url"] = format!("{}/chat/{path}", config.public_url()).into();
    }
    Ok(Answer::One(answer))
}

async fn bind(register: &Register, bound: &Bound) -> anyhow::Result<Answer> {
    let (scope, agent) = bound.whose.found(register).await?;
    register.store().bind(OnBot { scope, agent, bot: bot(&bound.bot)? }, &bound.author).await?;
    Ok(Answer::One(json!({ "agent_id": agent, "author": bound.author })))
}

async fn unbind(register: &Register, bound: &Bound) -> anyhow::Result<Answer> {
    let (scope, agent) = bound.whose.found(register).await?;
    register.store().unbind(OnBot { scope, agent, bot: bot(&bound.bot)? }, &bound.author).await?;
    Ok(Answer::One(json!({ "agent_id": agent, "author": bound.author })))
}

async fn create_grant(register: &Register, grant: Grant) -> anyhow::Result<Answer> {
    let Grant::Create { whose, bot, chat, open } = grant;
    let ((scope, agent), bot) = (whose.found(register).await?, self::bot(&bot)?);
    let principal = if open { Principal::Any } else { Principal::OwnerOnly };
    let (on, granted) = (OnBot { scope, agent, bot }, Granted::of(None, &chat));
    let free = register.store().grant(on, &granted, Some(principal)).await?;
    if !free {
        bail!("chat {chat} is already given to an agent; only one may be reached there");
    }
    Ok(Answer::One(json!({ "agent_id": agent, "chat": chat })))
}

fn bot(bot: &str) -> anyhow::Result<BotId> {
    bot.parse().context("--bot is not a bot's id; `bot create` printed it")
}
