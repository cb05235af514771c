//! Gateways, as callers see them.

use nightdesk_register::provision::Front;
use nightdesk_register::{LastLine, ListedGateway, LiveSecret};
use nightdesk_types::{AgentId, TenantId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::times::seconds;

/// A gateway in a list. Its secrets are not shown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GatewayView {
    /// Its name.
    pub name: String,
    /// The name of the agent that it speaks for.
    pub agent: String,
    /// The time at which it was created.
    pub created_at: String,
    /// The time at which it was revoked.
    pub revoked_at: Option<String>,
    /// The state of its newest line: `open since …`, `closed since …`, `closed with its node` or `never`.
    pub line: String,
    /// Its valid secrets, oldest first.
    pub secrets: Vec<SecretLifeView>,
}

/// The life of a valid secret.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SecretLifeView {
    /// The time at which it was created.
    pub created_at: String,
    /// The time at which it expires. Null: when it is replaced.
    pub expires_at: Option<String>,
}

impl From<LiveSecret> for SecretLifeView {
    fn from(secret: LiveSecret) -> Self {
        Self { created_at: seconds(secret.created_at), expires_at: secret.expires_at.map(seconds) }
    }
}

impl From<ListedGateway> for GatewayView {
    fn from(listed: ListedGateway) -> Self {
        let line = match listed.line {
            LastLine::None => "never".to_owned(),
            LastLine::Open { since } => format!("open since {}", seconds(since)),
            LastLine::Closed { at: Some(at) } => format!("closed since {}", seconds(at)),
            LastLine::Closed { at: None } => "closed with its node".to_owned(),
        };
        Self {
            name: listed.name,
            agent: listed.agent,
            created_at: seconds(listed.created_at),
            revoked_at: listed.revoked_at.map(seconds),
            line,
            secrets: listed.secrets.into_iter().map(SecretLifeView::from).collect(),
        }
    }
}

/// A platform as a gateway that provisions itself describes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FrontView {
    /// The platform.
    pub platform: String,
    /// The handle of the gateway's bot there.
    pub bot: String,
    /// The routes that it requested, which grant nothing.
    pub route_keys: Vec<String>,
    /// The gateway's name of its instance.
    pub instance: Option<String>,
}

impl From<Front> for FrontView {
    fn from(front: Front) -> Self {
        let Front { platform, bot_handle, route_keys, instance } = front;
        Self { platform, bot: bot_handle, route_keys, instance }
    }
}

/// A gateway with its new secret, which is shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GatewaySecretView {
    /// The gateway's name.
    pub gateway: String,
    /// The secret.
    pub secret: String,
}

/// A gateway that was revoked.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RevokedGateway {
    /// The gateway's name.
    pub gateway: String,
    /// True.
    pub revoked: bool,
}

/// An invitation to enrol a gateway, for the person who runs the agent. Its credentials are shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InvitationView {
    /// The URL at which the machine gets its access token.
    pub token_url: String,
    /// The machine identity.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
    /// The one-time token.
    pub token: String,
    /// The URL of the desk.
    pub connector_url: String,
    /// The gateway's name: the only permitted one, or a proposal if the invitation is for any.
    pub gateway: String,
    /// The platforms of the agent's bots, separated by commas.
    pub platforms: String,
    /// The time that it is valid.
    pub expires_in_secs: u64,
}

/// The permission of gateways' secrets to widen the reach of their agents.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GatewayTrust {
    /// True: they may widen it. False: they may only narrow it.
    pub gateways_may_widen: bool,
}

/// That permission of a tenant.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GatewayTrustView {
    /// The tenant.
    #[schema(value_type = String)]
    pub tenant_id: TenantId,
    /// True if the secrets of its gateways may widen the reach of their agents.
    pub gateways_may_widen: bool,
}

/// An agent that can neither be reached nor dial in any more.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DeprovisionedAgent {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The number of its gateways that were revoked.
    pub gateways_revoked: usize,
}
