//! Rows of ways.

use nightdesk_alerts::{
    AlertWay, ChatTarget, MailAddress, WayCoverage, WayKind, WayTarget, WebhookTarget,
};
use nightdesk_types::{AgentId, AlertWayId, BotId};
use uuid::Uuid;

use super::rows::read_scope;
use crate::row::bad_column;

/// A way as the driver reads it.
pub(super) struct WayRecord {
    pub(super) tenant: Uuid,
    pub(super) way: Uuid,
    pub(super) kind: String,
    pub(super) target: String,
    pub(super) salt: Option<String>,
    pub(super) agent_tenant: Option<Uuid>,
    pub(super) agent: Option<Uuid>,
    pub(super) bot: Option<Uuid>,
    pub(super) coverage: String,
}

impl WayRecord {
    pub(super) fn into_way(self) -> sqlx::Result<AlertWay> {
        let coverage = WayCoverage::from_slug(&self.coverage);
        Ok(AlertWay {
            scope: read_scope(self.tenant),
            id: AlertWayId::from_uuid(self.way),
            coverage: coverage.ok_or_else(|| bad_column("alert_ways", "coverage"))?,
            target: self.into_target().ok_or_else(|| bad_column("alert_ways", "kind"))?,
        })
    }

    fn into_target(self) -> Option<WayTarget> {
        Some(match WayKind::from_slug(&self.kind)? {
            WayKind::Webhook => {
                WayTarget::Webhook(WebhookTarget { url: self.target, salt: self.salt? })
            }
            WayKind::Mail => WayTarget::Mail(MailAddress::parse(&self.target)?),
            WayKind::Chat => WayTarget::Chat(ChatTarget {
                scope: read_scope(self.agent_tenant?),
                agent: AgentId::from_uuid(self.agent?),
                bot: BotId::from_uuid(self.bot?),
                chat_id: self.target,
            }),
        })
    }
}

/// The columns of a way's target.
pub(super) struct TargetColumns {
    pub(super) kind: &'static str,
    pub(super) target: String,
    pub(super) salt: Option<String>,
    pub(super) agent_tenant: Option<Uuid>,
    pub(super) agent: Option<Uuid>,
    pub(super) bot: Option<Uuid>,
}

impl TargetColumns {
    pub(super) fn new(target: &WayTarget) -> Self {
        let kind = target.kind().slug();
        let plain = |target: &str| Self {
            kind,
            target: target.to_owned(),
            salt: None,
            agent_tenant: None,
            agent: None,
            bot: None,
        };
        match target {
            WayTarget::Webhook(WebhookTarget { url, salt }) => {
                Self { salt: Some(salt.clone()), ..plain(url) }
            }
            WayTarget::Mail(address) => plain(address.as_str()),
            WayTarget::Chat(ChatTarget { scope, agent, bot, chat_id }) => Self {
                agent_tenant: Some(scope.tenant().uuid()),
                agent: Some(agent.uuid()),
                bot: Some(bot.uuid()),
                ..plain(chat_id)
            },
        }
    }
}

/// The key of a way.
#[derive(Clone, Copy)]
pub(super) struct WayKey {
    pub(super) tenant: Uuid,
    pub(super) way: Uuid,
}

impl WayKey {
    pub(super) const fn new(way: &AlertWay) -> Self {
        Self { tenant: way.scope.tenant().uuid(), way: way.id.uuid() }
    }
}
