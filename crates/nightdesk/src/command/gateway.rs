//! Commands about gateways: the clients with which agents dial in.

use std::time::Duration;

use clap::Subcommand;
use serde_json::{Value, json};

use super::PageArgs;
use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// The members of a gateway in a list.
const GATEWAY_COLUMNS: &[&str] = &["name", "agent", "created_at", "revoked_at", "line", "secrets"];

/// The members of a platform that a gateway fronts.
const FRONT_COLUMNS: &[&str] = &["platform", "bot", "route_keys", "instance"];

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

/// Runs a command about gateways.
pub(super) async fn run(
    desk: &DeskClient,
    command: GatewaySubcommand,
) -> anyhow::Result<CommandOutput> {
    let request = match &command {
        GatewaySubcommand::Create { whose, name } => {
            ApiRequest::post(&whose.path(&["gateways"])).with_body(json!({ "name": name }))
        }
        GatewaySubcommand::Token { whose, name, expires } => {
            return invite(desk, whose, name.as_deref(), *expires).await;
        }
        GatewaySubcommand::List { tenant, page } => {
            let path = ["tenants", tenant, "gateways"];
            return desk
                .list(ApiRequest::get(&path).with("after", &page.after), GATEWAY_COLUMNS)
                .await;
        }
        GatewaySubcommand::Show { tenant, name } => {
            let path = ["tenants", tenant, "gateways", name, "fronts"];
            return desk.list(ApiRequest::get(&path), FRONT_COLUMNS).await;
        }
        GatewaySubcommand::Rotate { tenant, name, overlap } => {
            let path = ["tenants", tenant, "gateways", name, "rotate"];
            ApiRequest::post(&path).with_body(json!({ "overlap_secs": overlap.as_secs() }))
        }
        GatewaySubcommand::Revoke { tenant, name } => {
            ApiRequest::post(&["tenants", tenant, "gateways", name, "revoke"])
        }
    };
    Ok(CommandOutput::One(desk.call(request).await?))
}

/// Lets the secrets of a tenant's gateways widen the reach of their agents, or forbids it.
pub(super) async fn trust(
    desk: &DeskClient,
    tenant: &str,
    may_widen: bool,
) -> anyhow::Result<CommandOutput> {
    let body = json!({ "gateways_may_widen": may_widen });
    let request = ApiRequest::put(&["tenants", tenant, "gateway-trust"]).with_body(body);
    Ok(CommandOutput::One(desk.call(request).await?))
}

/// Removes everything by which an agent can be reached or dial in.
pub(super) async fn deprovision(
    desk: &DeskClient,
    whose: &AgentArgs,
) -> anyhow::Result<CommandOutput> {
    Ok(CommandOutput::One(desk.call(ApiRequest::post(&whose.path(&["deprovision"]))).await?))
}

/// Creates an invitation to enrol a gateway.
async fn invite(
    desk: &DeskClient,
    whose: &AgentArgs,
    name: Option<&str>,
    expires: Duration,
) -> anyhow::Result<CommandOutput> {
    let body = json!({ "name": name, "expires_in_secs": expires.as_secs() });
    let request = ApiRequest::post(&whose.path(&["invitations"])).with_body(body);
    let data = desk.call(request).await?;
    let text = invitation_text(whose, &data);
    Ok(CommandOutput::Told { data, text })
}

/// Formats an invitation with two enrolment methods that are tested, ready to paste.
fn invitation_text(whose: &AgentArgs, invitation: &Value) -> String {
    let AgentArgs { tenant, agent } = whose;
    let member = |name: &str| invitation[name].as_str().unwrap_or_default();
    let [token_url, client, client_secret, token, url, name] =
        ["token_url", "client_id", "client_secret", "token", "connector_url", "gateway"]
            .map(member);
    let also = match member("platforms") {
        "" => String::new(),
        platforms => format!("GATEWAY_RELAY_PLATFORMS={platforms} "),
    };
    let minutes = invitation["expires_in_secs"].as_u64().unwrap_or_default().div_ceil(60);
    format!(
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
    )
}
