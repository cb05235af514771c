//! Commands that create tenants, agents and bots.

use std::sync::Arc;

use anyhow::{Context, bail};
use nightdesk_register::{BotDraft, Register, new_secret};
use nightdesk_store_pg::Pg;
use nightdesk_vault::{Key, Locksmith};
use nightdesk_wake::Wakers;
use serde_json::json;

use super::{
    Agent, Bot, Command, NewBot, Notice, Tenant, audit, bots, connect, data, explain, gateway,
    inbox, issuer, keys, letter, list, names, quota, reach, schedule, skill, wake,
};
use crate::config::Config;
use crate::config::secret_file::password;
use crate::ui::Answer;
use crate::wiring;

/// Runs a command on the register, and returns the created or found objects.
pub(super) async fn run(config: &Config, command: Command) -> anyhow::Result<Answer> {
    let pg = Arc::new(wiring::connect(config)?);
    let vault = config.vault().await?;
    let register = Register::over(Arc::<Pg>::clone(&pg), vault.clone());
    let locksmith = wiring::locksmith(&pg, vault);
    answer(config, &register, &pg, &locksmith, command).await
}

#[expect(clippy::cognitive_complexity, reason = "one arm for each noun, and nothing else")]
async fn answer(
    config: &Config,
    register: &Register,
    pg: &Arc<Pg>,
    locksmith: &Locksmith,
    command: Command,
) -> anyhow::Result<Answer> {
    match command {
        Command::Tenant(command) => tenants(register, locksmith, command).await,
        Command::Agent(command) => agents(config, register, &**pg, command).await,
        Command::Bot(bot) => of_bots(config, register, bot).await,
        Command::Explain(explain) => explain::run(register, pg, explain).await,
        Command::Link(link) => reach::link(register, link).await,
        Command::Binding(binding) => reach::binding(register, binding).await,
        Command::Grant(grant) => reach::grant(register, pg, grant).await,
        Command::Gateway(gateway) => gateway::run(register, &config.public_url(), gateway).await,
        Command::Issuer(command) => issuer::run(config, register, pg, command).await,
        Command::Inbox(inbox) => inbox::run(register, &**pg, inbox).await,
        Command::Wake(command) => wake::run(config, register, pg, command).await,
        Command::Schedule(command) => schedule::run(config, register, pg, command).await,
        Command::Skill(command) => skill::run(register, pg, command).await,
        Command::Data(command) => data::run(register, pg, command).await,
        Command::Letter(command) => letter::run(config, register, pg, command).await,
        Command::Audit(audit) => audit::run(config, register, audit).await,
        Command::Notice(Notice::List { tenant }) => notices(register, &**pg, &tenant).await,
        Command::Serve
        | Command::Dev { .. }
        | Command::Migrate
        | Command::Config(_)
        | Command::Verify(_)
        | Command::Key(_) => {
            bail!("this command does not use the register")
        }
    }
}

async fn tenants(
    register: &Register,
    locksmith: &Locksmith,
    command: Tenant,
) -> anyhow::Result<Answer> {
    match command {
        Tenant::Create { name } => {
            let tenant = register.create_tenant(&name).await?;
            Ok(Answer::One(json!({ "tenant_id": tenant })))
        }
        Tenant::List(page) => {
            let tenants = register.store().tenants(&page.after).await?;
            Ok(Answer::Many(tenants.iter().map(list::named).collect()))
        }
        Tenant::Quota { tenant, quotas } => quota::run(register, &tenant, &quotas).await,
        Tenant::RotateKey { name } => keys::rotate_tenant(register, locksmith, &name).await,
        Tenant::Erase { name, yes } => keys::erase(register, locksmith, &name, yes).await,
        Tenant::TrustGateways { tenant, stop } => {
            let scope = names::tenant(register, &tenant).await?;
            register.store().let_gateways_widen(scope, !stop).await?;
            Ok(Answer::One(json!({ "tenant_id": scope.tenant(), "gateways_may_widen": !stop })))
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
            let (scope, agent) = whose.found(register).await?;
            wake::urls(config, wakers, scope, agent, &urls, clear).await
        }
        Agent::Reach { whose, open_to } => reach::of(register, &whose, open_to).await,
        Agent::Deprovision { whose } => {
            let (scope, agent) = whose.found(register).await?;
            let revoked = register.store().deprovision(scope, agent).await?;
            Ok(Answer::One(json!({ "agent_id": agent, "gateways_revoked": revoked.len() })))
        }
    }
}

async fn notices(register: &Register, wakers: &dyn Wakers, tenant: &str) -> anyhow::Result<Answer> {
    let scope = names::tenant(register, tenant).await?;
    let notices = wakers.notices(scope).await?;
    Ok(Answer::Many(notices.iter().map(list::notice).collect()))
}

async fn of_bots(config: &Config, register: &Register, command: Bot) -> anyhow::Result<Answer> {
    match command {
        Bot::Create(bot) => create_bot(config, register, bot).await,
        Bot::Connect(connect) => connect::run(config, register, connect).await,
        Bot::RotateKey(rotated) => keys::rotate_bot(config, register, rotated).await,
        Bot::List { tenant } => bots::listed(register, &tenant).await,
        Bot::Check(which) => bots::check(config, register, which).await,
        Bot::Remove { which, yes } => bots::remove(config, register, which, yes).await,
        Bot::Share { tenant, bot, stop } => {
            let scope = names::tenant(register, &tenant).await?;
            let bot = names::bot(&bot)?;
            if !register.store().share(scope, bot, !stop).await? {
                bail!(
                    "{tenant} runs no such bot; `nightdesk bot list --tenant {tenant}` shows them"
                );
            }
            Ok(Answer::One(json!({ "bot_id": bot, "shared": !stop })))
        }
    }
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
        // Only the desk needs the key of a page.
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
