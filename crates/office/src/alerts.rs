//! Alerts, and the ways on which they go out.

mod views;

use nightdesk_alerts::{
    Alert, AlertFailure, AlertMessage, AlertWay, ChatTarget, MailAddress, NamedAlert, NewAlertWay,
    WayCoverage, WayCreation, WayKind, WayTarget, WayTest, WebhookTarget,
};
use nightdesk_desk::posting::random_salt;
use nightdesk_outside::TenantUrl;
use nightdesk_types::limits::{ALERT_TEST_EVERY, ALERT_WAYS_MAX, PLATFORM_ID_BYTES_MAX};
use nightdesk_types::{AlertWayId, TenantScope, Timestamp};
use nightdesk_users::{Access, Right};

pub use views::{
    AlertChatRequest, AlertView, AlertWayRequest, AlertWayView, CreatedAlertWay, RemovedAlertWay,
    TestedAlertWay,
};

use crate::error::OfficeError;
use crate::identities::TenantSelector;
use crate::office::Office;

/// The owner of ways.
#[derive(Clone, Copy, Debug)]
pub enum WayOwner<'a> {
    /// A tenant.
    Tenant(TenantScope),
    /// The operator, for the desk.
    Operator(&'a Access),
}

impl WayOwner<'_> {
    const fn scope(self) -> TenantScope {
        match self {
            Self::Tenant(scope) => scope,
            Self::Operator(access) => TenantScope::desk_own().with_actor(access.actor),
        }
    }
}

impl Office {
    /// Returns the newest alert of each kind of a tenant, open ones first.
    pub async fn alerts(&self, scope: TenantScope) -> Result<Vec<AlertView>, OfficeError> {
        let view = |alert: Alert| AlertView::from(NamedAlert { alert, tenant_name: None });
        Ok(self.store.alerts(scope).await?.into_iter().map(view).collect())
    }

    /// Returns the open alerts of the desk and of all tenants, the newest first.
    pub async fn desk_alerts(&self) -> Result<Vec<AlertView>, OfficeError> {
        Ok(self.store.open_alerts().await?.into_iter().map(AlertView::from).collect())
    }

    /// Returns the ways of a tenant, or of the operator.
    pub async fn alert_ways(&self, owner: WayOwner<'_>) -> Result<Vec<AlertWayView>, OfficeError> {
        let ways = self.store.alert_ways(owner.scope()).await?;
        Ok(ways.into_iter().map(AlertWayView::from).collect())
    }

    /// Adds a way. The secret of a URL is shown once.
    pub async fn add_alert_way(
        &self,
        owner: WayOwner<'_>,
        request: AlertWayRequest,
    ) -> Result<CreatedAlertWay, OfficeError> {
        let coverage = read_coverage(owner, request.all_tenants)?;
        let target = match request {
            AlertWayRequest { webhook: Some(url), mail: None, chat: None, .. } => {
                self.webhook_target(&url)?
            }
            AlertWayRequest { webhook: None, mail: Some(address), chat: None, .. } => {
                self.mail_target(&address)?
            }
            AlertWayRequest { webhook: None, mail: None, chat: Some(chat), .. } => {
                self.chat_target(owner, chat).await?
            }
            AlertWayRequest { .. } => {
                let expected = "send exactly one of webhook, mail and chat";
                return Err(OfficeError::Invalid(expected.to_owned()));
            }
        };
        let new = NewAlertWay { target, coverage };
        match self.store.add_alert_way(owner.scope(), &new).await? {
            WayCreation::Created(way) => Ok(self.created_way(&way)),
            WayCreation::Exists => Err(OfficeError::Conflict(
                "there is a way to this target; `nightdesk alert way list` shows it".to_owned(),
            )),
            WayCreation::TooMany => Err(OfficeError::Conflict(format!(
                "there are {ALERT_WAYS_MAX} ways; remove one with `nightdesk alert way remove`"
            ))),
        }
    }

    /// Removes a way.
    pub async fn remove_alert_way(
        &self,
        owner: WayOwner<'_>,
        way_id: AlertWayId,
    ) -> Result<RemovedAlertWay, OfficeError> {
        if self.store.remove_alert_way(owner.scope(), way_id).await? {
            return Ok(RemovedAlertWay { way_id, removed: true });
        }
        Err(unknown_way())
    }

    /// Sends a test message on a way, and waits for its result.
    pub async fn test_alert_way(
        &self,
        owner: WayOwner<'_>,
        way_id: AlertWayId,
        now: Timestamp,
    ) -> Result<TestedAlertWay, OfficeError> {
        let scope = owner.scope();
        let way = match self.store.claim_way_test(scope, way_id).await? {
            WayTest::Claimed(way) => way,
            WayTest::TooSoon => {
                return Err(OfficeError::Conflict(format!(
                    "the way was tested within the last {} s; wait, and test it again",
                    ALERT_TEST_EVERY.as_secs()
                )));
            }
            WayTest::Unknown => return Err(unknown_way()),
        };
        let message = AlertMessage::for_test(way_id, scope, now);
        match self.alerting.send(&way, &message).await {
            Ok(()) => Ok(TestedAlertWay { way_id, arrived: true }),
            Err(AlertFailure(reason)) => Err(OfficeError::Conflict(format!(
                "the message did not arrive: {reason}; correct the target, or remove the way"
            ))),
        }
    }

    fn created_way(&self, way: &AlertWay) -> CreatedAlertWay {
        let secret = match &way.target {
            WayTarget::Webhook(WebhookTarget { url: _, salt }) => {
                Some(self.webhook_key.alert_secret(way.scope, salt).to_string())
            }
            WayTarget::Mail(_) | WayTarget::Chat(_) => None,
        };
        CreatedAlertWay { way_id: way.id, kind: way.target.kind().slug(), secret }
    }

    fn webhook_target(&self, url: &str) -> Result<WayTarget, OfficeError> {
        let url = TenantUrl::parse(url, &self.url_rules).map_err(|refusal| {
            OfficeError::Invalid(format!("the URL cannot be called: {refusal}"))
        })?;
        let url = url.as_str().to_owned();
        Ok(WayTarget::Webhook(WebhookTarget { url, salt: random_salt() }))
    }

    fn mail_target(&self, address: &str) -> Result<WayTarget, OfficeError> {
        if !self.alerting.can_send(WayKind::Mail) {
            return Err(OfficeError::Conflict(
                "this desk sends no mail; its operator can set [mail] in the configuration"
                    .to_owned(),
            ));
        }
        let address = MailAddress::parse(address).ok_or_else(|| {
            let expected = "mail must be one plain address, such as ops@example.org";
            OfficeError::Invalid(expected.to_owned())
        })?;
        Ok(WayTarget::Mail(address))
    }

    async fn chat_target(
        &self,
        owner: WayOwner<'_>,
        request: AlertChatRequest,
    ) -> Result<WayTarget, OfficeError> {
        let AlertChatRequest { agent, bot, chat_id, tenant } = request;
        let scope = match (owner, tenant) {
            (WayOwner::Tenant(scope), None) => scope,
            (WayOwner::Operator(access), Some(called)) => {
                self.tenant(access, Right::Manage, &TenantSelector::new(called)).await?
            }
            (WayOwner::Tenant(_), Some(_)) => {
                let told = "chat.tenant is for ways of the operator; leave it out";
                return Err(OfficeError::Invalid(told.to_owned()));
            }
            (WayOwner::Operator(_), None) => {
                let told = "chat.tenant must name the tenant of the agent";
                return Err(OfficeError::Invalid(told.to_owned()));
            }
        };
        let is_id = (1..=PLATFORM_ID_BYTES_MAX).contains(&chat_id.len())
            && !chat_id.chars().any(char::is_control);
        if !is_id {
            return Err(OfficeError::Invalid(format!(
                "chat_id must have 1 to {PLATFORM_ID_BYTES_MAX} bytes on one line"
            )));
        }
        let agent = self.agent(scope, &agent).await?;
        Ok(WayTarget::Chat(ChatTarget { scope, agent, bot, chat_id }))
    }
}

fn read_coverage(owner: WayOwner<'_>, all_tenants: bool) -> Result<WayCoverage, OfficeError> {
    match (owner, all_tenants) {
        (WayOwner::Operator(_), true) => Ok(WayCoverage::AllTenants),
        (WayOwner::Operator(_) | WayOwner::Tenant(_), false) => Ok(WayCoverage::Own),
        (WayOwner::Tenant(_), true) => Err(OfficeError::Invalid(
            "all_tenants is for ways of the operator; leave it out".to_owned(),
        )),
    }
}

fn unknown_way() -> OfficeError {
    OfficeError::NotFound("there is no such way; `nightdesk alert way list` shows them".to_owned())
}
