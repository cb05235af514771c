//! Opens the functions of operators and tenants.

use std::sync::Arc;

use nightdesk_desk::Desk;
use nightdesk_desk::posting::WebhookKey;
use nightdesk_office::{DeskQuestionKey, Office, OfficeParts};
use nightdesk_outside::Outside;
use nightdesk_store_pg::Pg;
use nightdesk_vault::{Locksmith, Vault};

use super::checkup::RunningParts;
use super::doctor::NodeDoctor;
use super::{NodeBase, alerts};
use crate::config::Config;
use crate::custody::NodeCustody;
use crate::setups;

/// The keys that these functions use.
pub(super) struct OfficeKeys {
    pub(super) vault: Vault,
    pub(super) locksmith: Locksmith,
    pub(super) webhook_key: WebhookKey,
    pub(super) question_key: DeskQuestionKey,
}

/// Opens the office of a node, and starts its alerts.
pub(super) fn open(
    config: &Arc<Config>,
    base: &NodeBase,
    desk: &Arc<Desk>,
    outside: &Outside,
    keys: OfficeKeys,
) -> anyhow::Result<Office> {
    let OfficeKeys { vault, locksmith, webhook_key, question_key } = keys;
    let NodeBase { pg, erasures, .. } = base;
    let custody = NodeCustody { pg: Arc::clone(pg), locksmith, erasures: erasures.clone() };
    let examiner = NodeDoctor {
        config: Arc::clone(config),
        running: RunningParts { vault, readiness: desk.stops.readiness.clone() },
        question_key: question_key.clone(),
    };
    let alerting = alerts::start(config, base, desk, outside, &webhook_key)?;
    let parts = OfficeParts {
        store: Arc::<Pg>::clone(pg),
        custody: Arc::new(custody),
        setups: setups::open(config)?,
        url_rules: config.outside.clone(),
        webhook_key,
        examiner: Arc::new(examiner),
        question_key,
        alerting,
    };
    Ok(Office::new(Arc::clone(desk), parts))
}
