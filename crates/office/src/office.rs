//! The office and the parts that its functions use.

use std::sync::Arc;

use nightdesk_alerts::AlertAdmin;
use nightdesk_desk::posting::WebhookKey;
use nightdesk_desk::{Alerting, Desk, Records};
use nightdesk_outside::Rules;
use nightdesk_schedule::JobAdmin;
use nightdesk_types::{AgentId, TenantId, TenantScope};
use nightdesk_users::{Access, Right, UserStore, Users};
use tokio::sync::Mutex;

use crate::doctor::{DeskQuestionKey, NodeExaminer};
use crate::error::OfficeError;
use crate::identities::{TenantSelector, single_match};
use crate::ports::{DataCustody, PlatformSetups};
use crate::reads::OfficeReads;

/// The records that the office reads and changes besides those of the desk's stops.
pub trait OfficeStore: Records + JobAdmin + UserStore + OfficeReads + AlertAdmin {}

impl<T: Records + JobAdmin + UserStore + OfficeReads + AlertAdmin> OfficeStore for T {}

/// The parts of a node that only the office uses.
#[derive(Debug)]
pub struct OfficeParts {
    /// The records besides those of the desk's stops.
    pub store: Arc<dyn OfficeStore>,
    /// The keys of tenants, the list of erased tenants, and the history of the database.
    pub custody: Arc<dyn DataCustody>,
    /// The platforms whose bots can be connected and checked.
    pub setups: PlatformSetups,
    /// The rules for URLs that tenants set.
    pub url_rules: Rules,
    /// The key from which the secrets of webhooks are derived.
    pub webhook_key: WebhookKey,
    /// Examines what only the node sees.
    pub examiner: Arc<dyn NodeExaminer>,
    /// The key of the questions that the desk sends to its public URL.
    pub question_key: DeskQuestionKey,
    /// Sends messages about alerts.
    pub alerting: Arc<Alerting>,
}

/// The functions of operators and tenants.
#[derive(Debug)]
pub struct Office {
    pub(crate) desk: Arc<Desk>,
    pub(crate) store: Arc<dyn OfficeStore>,
    pub(crate) custody: Arc<dyn DataCustody>,
    pub(crate) setups: PlatformSetups,
    pub(crate) url_rules: Rules,
    pub(crate) webhook_key: WebhookKey,
    pub(crate) examiner: Arc<dyn NodeExaminer>,
    pub(crate) question_key: DeskQuestionKey,
    pub(crate) alerting: Arc<Alerting>,
    /// Locked by an examination: one at a time.
    pub(crate) examinations: Mutex<()>,
    users: Users,
}

impl Office {
    /// Opens the office of a desk.
    pub fn new(desk: Arc<Desk>, parts: OfficeParts) -> Self {
        let OfficeParts {
            store,
            custody,
            setups,
            url_rules,
            webhook_key,
            examiner,
            question_key,
            alerting,
        } = parts;
        let users = Users::new(Arc::<dyn OfficeStore>::clone(&store));
        Self {
            desk,
            store,
            custody,
            setups,
            url_rules,
            webhook_key,
            examiner,
            question_key,
            alerting,
            examinations: Mutex::default(),
            users,
        }
    }

    /// Returns the flow of alerts.
    pub fn alerting(&self) -> &Alerting {
        &self.alerting
    }

    /// Returns the users, who log in.
    pub const fn users(&self) -> &Users {
        &self.users
    }

    /// Returns the tenant of that name or id, if the caller may use the right there. A tenant in which the caller has no
    /// role is not found.
    pub async fn tenant(
        &self,
        access: &Access,
        right: Right,
        called: &TenantSelector,
    ) -> Result<TenantScope, OfficeError> {
        let found = self.desk.stops.register.store().tenants_called(called.as_str()).await?;
        let is_visible = |tenant: TenantId| access.tenant_scope(tenant, Right::Read).is_ok();
        let visible: Vec<_> = found.into_iter().filter(|one| is_visible(one.id)).collect();
        let tenant = single_match("tenant", called.as_str(), &visible)?;
        Ok(access.tenant_scope(tenant, right)?)
    }

    /// Returns the tenant's agent of that name or id.
    pub async fn agent(&self, scope: TenantScope, called: &str) -> Result<AgentId, OfficeError> {
        let found = self.desk.stops.register.store().agents_called(scope, called).await?;
        single_match("agent", called, &found)
    }
}
