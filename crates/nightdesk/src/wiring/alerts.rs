//! Opens the alerts of a node: their ways, and the task that looks for their causes.

use std::sync::Arc;

use nightdesk_alerts::WayKind;
use nightdesk_desk::alerting::{AlertWebhooks, ChatAlerts};
use nightdesk_desk::posting::WebhookKey;
use nightdesk_desk::{AlertSenders, Alerting, Desk};
use nightdesk_lease::Owners;
use nightdesk_outside::Outside;
use nightdesk_store_pg::Pg;
use nightdesk_types::SystemClock;

use super::NodeBase;
use crate::config::Config;
use crate::mail::SmtpMailer;

/// Opens the alerts, and starts to look for causes.
pub(super) fn start(
    config: &Config,
    base: &NodeBase,
    desk: &Desk,
    outside: &Outside,
    key: &WebhookKey,
) -> anyhow::Result<Arc<Alerting>> {
    let NodeBase { pg, lease, life, .. } = base;
    let clock = Arc::new(SystemClock::start());
    let mut senders = AlertSenders::new();
    let webhooks = AlertWebhooks::new(outside.clone(), key.clone(), clock);
    senders.insert(WayKind::Webhook, Arc::new(webhooks));
    senders.insert(WayKind::Chat, Arc::new(ChatAlerts::new(&desk.stops)));
    if let Some(mail) = &config.mail {
        senders.insert(WayKind::Mail, Arc::new(SmtpMailer::open(mail)?));
    }
    let owners = Owners::new(Arc::clone(lease), Arc::<Pg>::clone(pg));
    let alerting = Alerting::new(Arc::<Pg>::clone(pg), owners, senders, life.work.clone());
    let alerting = Arc::new(alerting);
    life.serving.spawn(Arc::clone(&alerting).run(life.drain.clone()));
    Ok(alerting)
}
