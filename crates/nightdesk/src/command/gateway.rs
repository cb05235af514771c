//! Commands about gateways: the clients with which agents dial in.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Subcommand;
use nightdesk_register::enrolment::Invitation;
use nightdesk_register::provision::Front;
use nightdesk_register::{GreetedBot, Register, is_gateway_name};
use nightdesk_types::limits::ENROLMENT_GOOD_FOR_MAX;
use serde_json::json;

use super::names::AgentArgs;
use super::{PageArgs, list, names};
use crate::ui::CommandOutput;

#[derive(Debug, Subcommand)]
pub(crate) enum GatewaySubcommand {
    /// Create a gateway of an agent, and show its secret once.
    #[command(
        after_help = "Example:\n  nightdesk gateway create --tenant acme --agent helper --name gw-laptop"
    )]
    Create {
        #[command(flatten)]
        whose: AgentArgs,
        /// The client's name: `GATEWAY_RELAY_ID`.
        #[arg(long)]
        name: String,
    },
    /// Create an invitation to enrol a gateway of an agent, and show its credentials once.
    #[command(
        after_help = "Example:\n  nightdesk gateway token --tenant acme --agent helper --name gw-laptop"
    )]
    Token {
        #[command(flatten)]
        whose: AgentArgs,
        /// The only name that the gateway may take. Without it, any.
        #[arg(long)]
        name: Option<String>,
        /// The time that the invitation is valid: `30s`, `15m`, at most `24h`.
        #[arg(long, default_value = "10m", value_parser = crate::ui::span)]
        expires: Duration,
    },
    /// List the gateways of a tenant.
    #[command(after_help = "Example:\n  nightdesk gateway list --tenant acme")]
    List {
        /// The gateways' tenant, by name or id.
        #[arg(long)]
        tenant: String,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show the platforms that a self-provisioned gateway fronts.
    #[command(after_help = "Example:\n  nightdesk gateway show --tenant acme --name gw-laptop")]
    Show {
        /// The gateway's tenant.
        #[arg(long)]
        tenant: String,
        /// The gateway's name.
        #[arg(long)]
        name: String,
    },
    /// Give a gateway a new secret, and show it once.
    #[command(
        after_help = "Example:\n  nightdesk gateway rotate --tenant acme --name gw-laptop --overlap 24h"
    )]
    Rotate {
        /// The gateway's tenant.
        #[arg(long)]
        tenant: String,
        /// The gateway's name.
        #[arg(long)]
        name: String,
        /// The time that its earlier secrets stay valid: `30s`, `15m`, `24h`.
        #[arg(long, default_value = "24h", value_parser = crate::ui::span)]
        overlap: Duration,
    },
    /// Revoke a gateway. Its line is closed, and its client does not come back by itself.
    #[command(after_help = "Example:\n  nightdesk gateway revoke --tenant acme --name gw-laptop")]
    Revoke {
        /// The gateway's tenant.
        #[arg(long)]
        tenant: String,
        /// The gateway's name.
        #[arg(long)]
        name: String,
    },
}

/// Runs a command about gateways. `url` is the desk's public URL.
pub(super) async fn run(
    register: &Register,
    url: &str,
    gateway: GatewaySubcommand,
) -> anyhow::Result<CommandOutput> {
    match gateway {
        GatewaySubcommand::Create { whose, name } => {
            let (scope, agent) = whose.resolve(register).await?;
            check_name(&name)?;
            let (_, secret) = register.create_gateway(scope, agent, &name).await?;
            Ok(CommandOutput::One(json!({ "gateway": name, "secret": secret.with(str::to_owned) })))
        }
        GatewaySubcommand::Token { whose, name, expires } => {
            ensure!(
                !expires.is_zero() && expires <= ENROLMENT_GOOD_FOR_MAX,
                "--expires must be at least 1s and at most 24h; create another invitation later"
            );
            let (scope, agent) = whose.resolve(register).await?;
            name.as_deref().map_or(Ok(()), check_name)?;
            let bots = register.store().bots_of(scope, agent).await?;
            let invited = register.invite(scope, agent, name.as_deref(), expires).await?;
            let name = name.unwrap_or_else(|| name_after(&whose.agent));
            let guest = InvitationRecipient { url, whose: &whose, name: &name };
            Ok(guest.invitation(&invited, &bots, expires))
        }
        GatewaySubcommand::List { tenant, page } => {
            let scope = names::tenant(register, &tenant).await?;
            let gateways = register.store().gateways(scope, &page.after).await?;
            Ok(CommandOutput::Many(gateways.iter().map(list::gateway).collect()))
        }
        GatewaySubcommand::Show { tenant, name } => show(register, &tenant, &name).await,
        GatewaySubcommand::Rotate { tenant, name, overlap } => {
            let scope = names::tenant(register, &tenant).await?;
            let secret = register.rotate(scope, &name, overlap).await?;
            let secret = secret.with_context(|| no_gateway_text(&name))?;
            Ok(CommandOutput::One(json!({ "gateway": name, "secret": secret.with(str::to_owned) })))
        }
        GatewaySubcommand::Revoke { tenant, name } => {
            let scope = names::tenant(register, &tenant).await?;
            if !register.store().revoke(scope, &name).await? {
                bail!(no_gateway_text(&name));
            }
            Ok(CommandOutput::One(json!({ "gateway": name, "revoked": true })))
        }
    }
}

/// Shows the platforms that a gateway fronts. A gateway that does not provision itself has none.
async fn show(register: &Register, tenant: &str, name: &str) -> anyhow::Result<CommandOutput> {
    let scope = names::tenant(register, tenant).await?;
    let known = register.store().gateways_named(name).await?;
    ensure!(known.iter().any(|secret| secret.gateway.scope == scope), no_gateway_text(name));
    let fronts = register.store().fronts(scope, name).await?;
    Ok(CommandOutput::Many(fronts.iter().map(front_json).collect()))
}

fn front_json(front: &Front) -> serde_json::Value {
    json!({
        "platform": front.platform, "bot": front.bot_handle, "route_keys": front.route_keys,
        "instance": front.instance,
    })
}

fn check_name(name: &str) -> anyhow::Result<()> {
    ensure!(
        is_gateway_name(name),
        "{name} is not a valid gateway name; use 1 to 64 letters, digits, dots, dashes or underscores"
    );
    Ok(())
}

fn no_gateway_text(name: &str) -> String {
    format!("the tenant has no live gateway called {name}; `nightdesk gateway list` shows them")
}

/// The recipient of an invitation.
struct InvitationRecipient<'a> {
    url: &'a str,
    whose: &'a AgentArgs,
    name: &'a str,
}

impl InvitationRecipient<'_> {
    /// Formats the invitation with two enrolment methods that are tested, ready to paste.
    fn invitation(
        &self,
        invited: &Invitation,
        bots: &[GreetedBot],
        good_for: Duration,
    ) -> CommandOutput {
        let InvitationRecipient { url, whose: AgentArgs { tenant, agent }, name } = self;
        let (client, client_secret) = (invited.client, invited.client_secret.with(str::to_owned));
        let token = invited.token.with(str::to_owned);
        let token_url = format!("{url}/oauth/token");
        let platforms = platforms(bots);
        let also = match platforms.as_str() {
            "" => String::new(),
            platforms => format!("GATEWAY_RELAY_PLATFORMS={platforms} "),
        };
        let minutes = good_for.as_secs().div_ceil(60);
        let text = format!(
            "Send this to the owner of the agent. It is valid for {minutes} minutes and one enrolment. On the agent's machine:\n\
             \n\
             export GATEWAY_RELAY_IDP_TOKEN_URL={token_url}\n\
             export GATEWAY_RELAY_IDP_CLIENT_ID={client}\n\
             export GATEWAY_RELAY_IDP_CLIENT_SECRET={client_secret}\n\
             hermes gateway enroll --token {token} --connector-url {url} --gateway-id {name}\n\
             \n\
             The command writes id, secret and GATEWAY_RELAY_URL into ~/.hermes/.env, where the agent finds them:\n\
             \n\
             {also}hermes gateway run\n\
             \n\
             The URL must be there or in the environment; the client does not use one that is only in config.yaml.\n\
             \n\
             Without enrolment: create the gateway here, and set the printed values as GATEWAY_RELAY_ID and\n\
             GATEWAY_RELAY_SECRET, with GATEWAY_RELAY_URL={url}, in the agent's environment:\n\
             \n\
             nightdesk gateway create --tenant {tenant} --agent {agent} --name {name}"
        );
        let data = json!({
            "token_url": token_url, "client_id": client, "client_secret": client_secret,
            "token": token, "connector_url": url, "gateway": name, "platforms": platforms,
            "expires_in_secs": good_for.as_secs(),
        });
        CommandOutput::Told { data, text }
    }
}

/// Returns a gateway name for an agent of this name.
fn name_after(agent: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("gw-{}", agent.chars().take(60).map(plain).collect::<String>())
}

/// Returns the platforms of the agent's bots, each once: the names that its client uses there.
fn platforms(bots: &[GreetedBot]) -> String {
    let mut platforms: Vec<&str> = bots.iter().map(|bot| bot.platform.as_str()).collect();
    platforms.sort_unstable();
    platforms.dedup();
    platforms.join(",")
}
