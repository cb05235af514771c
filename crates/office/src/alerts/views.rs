//! The views of alerts and ways.

use nightdesk_alerts::{ChatTarget, ListedAlertWay, NamedAlert, WayTarget, WebhookTarget};
use nightdesk_types::{AgentId, AlertWayId, BotId, TenantId, TenantScope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::times::seconds;

/// An alert.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AlertView {
    /// The kind.
    pub kind: &'static str,
    /// `open` or `resolved`.
    pub state: &'static str,
    /// The tenant. Absent: the desk itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub tenant_id: Option<TenantId>,
    /// The tenant's name, in a list of several tenants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The time at which it was opened.
    pub opened_at: String,
    /// The time at which it was resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<String>,
    /// The beginning of the oldest cause.
    pub since: String,
    /// The state in a few words.
    pub headline: String,
    /// The first subjects. More may be counted.
    pub samples: Vec<String>,
    /// The number of subjects.
    pub subjects: u64,
    /// The step to take.
    pub next_step: &'static str,
}

impl From<NamedAlert> for AlertView {
    fn from(named: NamedAlert) -> Self {
        let NamedAlert { alert, tenant_name } = named;
        let is_of_tenant = alert.scope != TenantScope::desk_own();
        Self {
            kind: alert.kind.slug(),
            state: if alert.is_open() { "open" } else { "resolved" },
            tenant_id: is_of_tenant.then(|| alert.scope.tenant()),
            tenant: tenant_name,
            opened_at: seconds(alert.opened_at),
            resolved_at: alert.resolved_at.map(seconds),
            since: seconds(alert.since),
            headline: alert.kind.headline(alert.count),
            samples: alert.samples,
            subjects: alert.subjects,
            next_step: alert.kind.next_step(),
        }
    }
}

/// A way for alerts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AlertWayView {
    /// Its id.
    #[schema(value_type = String)]
    pub way_id: AlertWayId,
    /// `webhook`, `mail` or `chat`.
    pub kind: &'static str,
    /// The URL, the address, or the chat.
    pub target: String,
    /// The bot of a chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub bot_id: Option<BotId>,
    /// The agent in whose place the desk writes in a chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// `own`, or `all-tenants` for a way of the operator that gets the alerts of every tenant, too.
    pub coverage: &'static str,
    /// The time of the last message that arrived.
    pub told_at: Option<String>,
    /// The reason for which the last message did not arrive. Null: it did.
    pub failure: Option<String>,
}

impl From<ListedAlertWay> for AlertWayView {
    fn from(listed: ListedAlertWay) -> Self {
        let ListedAlertWay { way, created_at: _, told_at, failure } = listed;
        let kind = way.target.kind().slug();
        let (target, chat) = match way.target {
            WayTarget::Webhook(WebhookTarget { url, salt: _ }) => (url, None),
            WayTarget::Mail(address) => (address.to_string(), None),
            WayTarget::Chat(ChatTarget { scope: _, agent, bot, chat_id }) => {
                (chat_id, Some((bot, agent)))
            }
        };
        Self {
            way_id: way.id,
            kind,
            target,
            bot_id: chat.map(|(bot, _)| bot),
            agent_id: chat.map(|(_, agent)| agent),
            coverage: way.coverage.slug(),
            told_at: told_at.map(seconds),
            failure,
        }
    }
}

/// A way to add: exactly one of `webhook`, `mail` and `chat`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AlertWayRequest {
    /// The URL to which alerts are posted.
    #[serde(default)]
    pub webhook: Option<String>,
    /// The address to which they are mailed.
    #[serde(default)]
    pub mail: Option<String>,
    /// The chat in which they are written.
    #[serde(default)]
    pub chat: Option<AlertChatRequest>,
    /// For a way of the operator: true if it gets the alerts of every tenant, too.
    #[serde(default)]
    pub all_tenants: bool,
}

/// A chat in which an agent may write.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AlertChatRequest {
    /// The agent in whose place the desk writes, by name or id.
    pub agent: String,
    /// The bot.
    #[schema(value_type = String)]
    pub bot: BotId,
    /// The chat's id on the platform.
    pub chat_id: String,
    /// For a way of the operator: the tenant of the agent, by name or id.
    #[serde(default)]
    pub tenant: Option<String>,
}

/// A way that was added.
#[derive(Clone, Serialize, ToSchema)]
pub struct CreatedAlertWay {
    /// Its id.
    #[schema(value_type = String)]
    pub way_id: AlertWayId,
    /// `webhook`, `mail` or `chat`.
    pub kind: &'static str,
    /// The secret that signs the posts to a URL, as Standard Webhooks define. It is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

nightdesk_types::opaque_debug!(CreatedAlertWay);

/// A way that was removed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RemovedAlertWay {
    /// Its id.
    #[schema(value_type = String)]
    pub way_id: AlertWayId,
    /// True.
    pub removed: bool,
}

/// A test message that arrived.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TestedAlertWay {
    /// The way.
    #[schema(value_type = String)]
    pub way_id: AlertWayId,
    /// True.
    pub arrived: bool,
}
