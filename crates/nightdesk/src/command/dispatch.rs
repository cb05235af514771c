//! Runs the commands that call a desk.

use nightdesk_office::StopPermission;

use super::{AgentSubcommand, DeskCommand, TenantSubcommand};
use super::{
    alert, audit, bots, data, explain, gateway, identities, inbox, issuer, letter, notice, quota,
    reach, schedule, skill, stop, tenants, user, verify, wake, webhook,
};
use crate::desk_client::DeskClient;
use crate::ui::CommandOutput;

/// Runs a command. The desk checks the rights of the user whose token the client has.
#[expect(clippy::cognitive_complexity, reason = "one arm for each command")]
pub(super) async fn run(desk: &DeskClient, command: DeskCommand) -> anyhow::Result<CommandOutput> {
    match command {
        DeskCommand::Tenant(command) => run_tenant(desk, command).await,
        DeskCommand::Agent(command) => run_agent(desk, command).await,
        DeskCommand::Bot(command) => bots::run(desk, command).await,
        DeskCommand::Explain(explain) => explain::run(desk, explain).await,
        DeskCommand::User(command) => user::run_user(desk, command).await,
        DeskCommand::Token(command) => user::run_token(desk, command).await,
        DeskCommand::Glass(command) => user::run_glass(desk, command).await,
        DeskCommand::Link(command) => reach::run_link(desk, command).await,
        DeskCommand::Binding(command) => reach::run_binding(desk, command).await,
        DeskCommand::Grant(command) => reach::run_grant(desk, command).await,
        DeskCommand::Gateway(command) => gateway::run(desk, command).await,
        DeskCommand::Issuer(command) => issuer::run(desk, command).await,
        DeskCommand::Inbox(command) => inbox::run(desk, command).await,
        DeskCommand::Wake(command) => wake::run(desk, command).await,
        DeskCommand::Schedule(command) => schedule::run(desk, command).await,
        DeskCommand::Skill(command) => skill::run(desk, command).await,
        DeskCommand::Data(command) => data::run(desk, command).await,
        DeskCommand::Letter(command) => letter::run(desk, command).await,
        DeskCommand::Notice(command) => notice::run(desk, command).await,
        DeskCommand::Alert(command) => alert::run(desk, command).await,
        DeskCommand::Audit(command) => audit::run(desk, command).await,
        DeskCommand::Verify(args) => verify::run(desk, args).await,
    }
}

async fn run_tenant(desk: &DeskClient, command: TenantSubcommand) -> anyhow::Result<CommandOutput> {
    match command {
        TenantSubcommand::Create { name } => identities::create_tenant(desk, &name).await,
        TenantSubcommand::List(page) => identities::list_tenants(desk, &page).await,
        TenantSubcommand::Quota { tenant, quotas } => quota::run(desk, &tenant, &quotas).await,
        TenantSubcommand::RotateKey { name } => tenants::rotate_key(desk, &name).await,
        TenantSubcommand::Erase { name, yes } => tenants::erase(desk, &name, yes).await,
        TenantSubcommand::TrustGateways { tenant, stop } => {
            gateway::trust(desk, &tenant, !stop).await
        }
    }
}

async fn run_agent(desk: &DeskClient, command: AgentSubcommand) -> anyhow::Result<CommandOutput> {
    match command {
        AgentSubcommand::Create { tenant, name } => {
            identities::create_agent(desk, &tenant, &name).await
        }
        AgentSubcommand::List { tenant, page } => {
            identities::list_agents(desk, &tenant, &page).await
        }
        AgentSubcommand::WakeUrl { whose, urls, clear: false } if urls.is_empty() => {
            wake::show_urls(desk, &whose).await
        }
        AgentSubcommand::WakeUrl { whose, urls, clear: _ } => {
            wake::set_urls(desk, &whose, &urls).await
        }
        AgentSubcommand::Webhook { whose, url, clear } => {
            webhook::configure(desk, &whose, url, clear).await
        }
        AgentSubcommand::Reach { whose, open_to } => reach::show_reach(desk, &whose, open_to).await,
        AgentSubcommand::Stop(args) => stop::run(desk, args).await,
        AgentSubcommand::LetStop { whose, forbid } => {
            stop::permit(desk, &whose, StopPermission { stops_others: !forbid }).await
        }
        AgentSubcommand::Deprovision { whose } => gateway::deprovision(desk, &whose).await,
    }
}
