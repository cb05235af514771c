//! Commands that create tenants, agents and bots.

use std::sync::Arc;

use anyhow::{Context, bail};
use nightdesk_register::{BotDraft, Register, new_secret};
use nightdesk_store_pg::Pg;
use nightdesk_vault::{Key, Locksmith};
use nightdesk_wake::WakeAdmin;
use serde_json::json;

use super::keys::TenantErasure;
use super::webhook::{WebhookChange, WebhookOwner};
use super::{
    AgentSubcommand, BotSubcommand, Command, NewBotArgs, NoticeSubcommand, TenantSubcommand, audit,
    bots, connect, data, explain, gateway, history, inbox, issuer, keys, letter, list, names,
    quota, reach, schedule, skill, stop, wake, webhook,
};
use crate::config::Config;
use crate::config::secret_file::password;
use crate::erasures::Erasures;
use crate::ui::CommandOutput;
use crate::wiring;

/// Runs a command on the register, and returns the created or found objects.
pub(super) async fn run(config: &Config, command: Command) -> anyhow::Result<CommandOutput> {
    let vault = config.vault().await?;
    let pg = Arc::new(wiring::connect(config, vault.clone())?);
    let register = Register::new(Arc::<Pg>::clone(&pg), vault.clone());
    let locksmith = wiring::locksmith(&pg, vault);
    dispatch(config, &register, &pg, &locksmith, command).await
}

#[expect(clippy::cognitive_complexity, reason = "one arm for each noun, and nothing else")]
async fn dispatch(
    config: &Config,
    register: &Register,
    pg: &Arc<Pg>,
    locksmith: &Locksmith,
    command: Command,
) -> anyhow::Result<CommandOutput> {
    match command {
        Command::Tenant(command) => tenants(config, register, locksmith, pg, command).await,
        Command::Agent(command) => agents(config, register, locksmith, pg, command).await,
        Command::Bot(bot) => run_bot(config, register, bot).await,
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
        Command::History(command) => history::run(config, pg, command).await,
        Command::Notice(NoticeSubcommand::List { tenant }) => {
            notices(register, &**pg, &tenant).await
        }
        Command::Serve
        | Command::Dev { .. }
        | Command::Conformance(_)
        | Command::Migrate
        | Command::Config(_)
        | Command::Verify(_)
        | Command::Key(_) => {
            bail!("this command does not use the register")
        }
    }
}

async fn tenants(
    config: &Config,
    register: &Register,
    locksmith: &Locksmith,
    pg: &Arc<Pg>,
    command: TenantSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        TenantSubcommand::Create { name } => {
            let tenant = register.create_tenant(&name).await?;
            Ok(CommandOutput::One(json!({ "tenant_id": tenant })))
        }
        TenantSubcommand::List(page) => {
            let tenants = register.store().tenants(&page.after).await?;
            Ok(CommandOutput::Many(tenants.iter().map(list::identity_json).collect()))
        }
        TenantSubcommand::Quota { tenant, quotas } => quota::run(register, &tenant, &quotas).await,
        TenantSubcommand::RotateKey { name } => {
            keys::rotate_tenant(register, locksmith, &name).await
        }
        TenantSubcommand::Erase { name, yes } => {
            let erasures = Erasures::open(config, pg, &config.vault().await?);
            keys::erase(register, locksmith, erasures, TenantErasure { name, yes }).await
        }
        TenantSubcommand::TrustGateways { tenant, stop } => {
            let scope = names::tenant(register, &tenant).await?;
            register.store().let_gateways_widen(scope, !stop).await?;
            Ok(CommandOutput::One(
                json!({ "tenant_id": scope.tenant(), "gateways_may_widen": !stop }),
            ))
        }
    }
}

async fn agents(
    config: &Config,
    register: &Register,
    locksmith: &Locksmith,
    pg: &Arc<Pg>,
    command: AgentSubcommand,
) -> anyhow::Result<CommandOutput> {
    let wakers: &dyn WakeAdmin = &**pg;
    match command {
        AgentSubcommand::Create { tenant, name } => {
            let scope = names::tenant(register, &tenant).await?;
            let agent = register.store().create_agent(scope, &name).await?;
            Ok(CommandOutput::One(json!({ "agent_id": agent })))
        }
        AgentSubcommand::List { tenant, page } => {
            let scope = names::tenant(register, &tenant).await?;
            let agents = register.store().agents(scope, &page.after).await?;
            Ok(CommandOutput::Many(agents.iter().map(list::identity_json).collect()))
        }
        AgentSubcommand::WakeUrl { whose, urls, clear } => {
            let (scope, agent) = whose.resolve(register).await?;
            wake::urls(config, wakers, scope, agent, &urls, clear).await
        }
        AgentSubcommand::Webhook { whose, url, clear } => {
            let (scope, agent) = whose.resolve(register).await?;
            let owner = WebhookOwner { scope, agent };
            webhook::configure(config, wakers, locksmith, owner, WebhookChange { url, clear }).await
        }
        AgentSubcommand::Reach { whose, open_to } => {
            reach::show_reach(register, &whose, open_to).await
        }
        AgentSubcommand::Stop(args) => stop::run(config, register, pg, args).await,
        AgentSubcommand::LetStop { whose, forbid } => stop::permit(register, &whose, forbid).await,
        AgentSubcommand::Deprovision { whose } => {
            let (scope, agent) = whose.resolve(register).await?;
            let revoked = register.store().deprovision(scope, agent).await?;
            Ok(CommandOutput::One(json!({ "agent_id": agent, "gateways_revoked": revoked.len() })))
        }
    }
}

async fn notices(
    register: &Register,
    wakers: &dyn WakeAdmin,
    tenant: &str,
) -> anyhow::Result<CommandOutput> {
    let scope = names::tenant(register, tenant).await?;
    let notices = wakers.notices(scope).await?;
    Ok(CommandOutput::Many(notices.iter().map(list::notice).collect()))
}

async fn run_bot(
    config: &Config,
    register: &Register,
    command: BotSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        BotSubcommand::Create(bot) => create_bot(config, register, bot).await,
        BotSubcommand::Connect(connect) => connect::run(config, register, connect).await,
        BotSubcommand::RotateKey(rotated) => keys::rotate_bot(config, register, rotated).await,
        BotSubcommand::List { tenant } => bots::list_bots(register, &tenant).await,
        BotSubcommand::Check(which) => bots::check(config, register, which).await,
        BotSubcommand::Remove { which, yes } => bots::remove(config, register, which, yes).await,
        BotSubcommand::Share { tenant, bot, stop } => {
            let scope = names::tenant(register, &tenant).await?;
            let bot = names::bot(&bot)?;
            if !register.store().share(scope, bot, !stop).await? {
                bail!(
                    "{tenant} runs no such bot; `nightdesk bot list --tenant {tenant}` shows them"
                );
            }
            Ok(CommandOutput::One(json!({ "bot_id": bot, "shared": !stop })))
        }
    }
}

async fn create_bot(
    config: &Config,
    register: &Register,
    bot: NewBotArgs,
) -> anyhow::Result<CommandOutput> {
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
    Ok(CommandOutput::One(answer))
}
