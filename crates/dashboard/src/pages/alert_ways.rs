//! `/t/{tenant}/alerts/ways`, `/alerts/ways`: forms that add, test and remove the ways on which alerts go out.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{
    AlertChatRequest, AlertWayRequest, AlertWayView, CreatedAlertWay, OfficeError, WayOwner,
};
use nightdesk_types::{AlertWayId, TenantScope};
use nightdesk_users::{Access, Right};
use serde::Deserialize;

use super::alerts::DESK_ALERTS;
use crate::confirm::{ConfirmForm, Confirmation};
use crate::layout::{Layout, Section};
use crate::notice::Notice;
use crate::place::{DeskPlace, TenantPlace};
use crate::refusal::{Refusal, bad_form};
use crate::secret::{SecretPage, fact};
use crate::session::{NoFields, OwnForm};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    const OF_TENANT: &str = "/t/{tenant}/alerts/ways";
    const OF_DESK: &str = "/alerts/ways";
    Router::new()
        .route(OF_TENANT, post(add_in_tenant))
        .route(&format!("{OF_TENANT}/{{way}}/test"), post(test_in_tenant))
        .route(
            &format!("{OF_TENANT}/{{way}}/remove"),
            get(confirm_in_tenant).post(remove_in_tenant),
        )
        .route(OF_DESK, post(add_in_desk))
        .route(&format!("{OF_DESK}/{{way}}/test"), post(test_in_desk))
        .route(&format!("{OF_DESK}/{{way}}/remove"), get(confirm_in_desk).post(remove_in_desk))
}

/// The ways of a tenant or of the operator, and a user who may change them.
struct AlertWaysPlace {
    layout: Layout,
    /// The address of the page of alerts.
    path: String,
    /// The tenant. `None`: the desk.
    scope: Option<TenantScope>,
    access: Access,
}

impl AlertWaysPlace {
    fn of_tenant(place: TenantPlace) -> Result<Self, Refusal> {
        let scope = Some(place.scope_for(Right::Manage)?);
        let (layout, path) = (place.layout(Section::Alerts), place.path() + "/alerts");
        Ok(Self { layout, path, scope, access: place.access })
    }

    fn of_desk(place: DeskPlace) -> Result<Self, Refusal> {
        place.check(Right::Operate)?;
        let (layout, path) = (place.layout(Section::DeskAlerts), DESK_ALERTS.to_owned());
        Ok(Self { layout, path, scope: None, access: place.access })
    }

    const fn owner(&self) -> WayOwner<'_> {
        match self.scope {
            Some(scope) => WayOwner::Tenant(scope),
            None => WayOwner::Operator(&self.access),
        }
    }

    async fn add(self, desk: &Dashboard, form: AlertWayForm) -> Result<Response, Refusal> {
        let request = form.into_request()?;
        let created = desk.office().add_alert_way(self.owner(), request).await?;
        let CreatedAlertWay { way_id: _, kind: _, secret } = created;
        let Some(secret) = secret else {
            return Ok(Notice::AlertWayAdded.redirect(&self.path));
        };
        let page = SecretPage {
            layout: self.layout,
            title: "The secret of the webhook".to_owned(),
            text: "It signs the alerts that the desk posts, as Standard Webhooks define. It is shown only here.",
            facts: vec![fact("Secret", secret)],
            back: self.path,
        };
        Ok(page.into_response())
    }

    async fn test(self, desk: &Dashboard, way: AlertWayId) -> Result<Response, Refusal> {
        desk.office().test_alert_way(self.owner(), way, desk.now()).await?;
        Ok(Notice::AlertWayTested.redirect(&self.path))
    }

    async fn find(&self, desk: &Dashboard, way: AlertWayId) -> Result<AlertWayView, Refusal> {
        let ways = desk.office().alert_ways(self.owner()).await?;
        let found = ways.into_iter().find(|listed| listed.way_id == way);
        let missing = "there is no such way; the page of alerts lists the ways";
        Ok(found.ok_or_else(|| OfficeError::NotFound(missing.to_owned()))?)
    }

    async fn confirm(self, desk: &Dashboard, way: AlertWayId) -> Result<Response, Refusal> {
        let AlertWayView { kind, target, .. } = self.find(desk, way).await?;
        let confirmation = Confirmation {
            layout: self.layout,
            title: format!("Remove the {kind} {target}?"),
            text: "No alert goes out on this way any more, not even the end of one that is open."
                .to_owned(),
            action: format!("{}/ways/{way}/remove", self.path),
            confirm: way.to_string(),
            button: "Remove it",
            back: self.path,
        };
        Ok(confirmation.into_response())
    }

    async fn remove(
        self,
        desk: &Dashboard,
        way: AlertWayId,
        form: &ConfirmForm,
    ) -> Result<Response, Refusal> {
        if form.confirm != way.to_string() {
            return Err(bad_form());
        }
        desk.office().remove_alert_way(self.owner(), way).await?;
        Ok(Notice::AlertWayRemoved.redirect(&self.path))
    }
}

/// A new way: a URL, an address, or a chat with its agent and its bot.
#[derive(Deserialize, Default)]
#[serde(default)]
struct AlertWayForm {
    webhook: String,
    mail: String,
    chat: String,
    agent: String,
    bot: String,
    /// The tenant of the agent, for a way of the operator.
    tenant: String,
    /// `all-tenants` for a way of the operator that gets the alerts of every tenant, too.
    coverage: String,
}

impl AlertWayForm {
    /// Returns the request. A form sends the fields of its own kind of way only; the office refuses others.
    fn into_request(self) -> Result<AlertWayRequest, Refusal> {
        let all_tenants = match self.coverage.as_str() {
            "all-tenants" => true,
            "" | "own" => false,
            _ => return Err(bad_form()),
        };
        let chat = match filled(&self.chat) {
            Some(chat_id) => Some(AlertChatRequest {
                agent: self.agent.trim().to_owned(),
                bot: self.bot.trim().parse().map_err(|_| bad_form())?,
                chat_id,
                tenant: filled(&self.tenant),
            }),
            None => None,
        };
        let (webhook, mail) = (filled(&self.webhook), filled(&self.mail));
        Ok(AlertWayRequest { webhook, mail, chat, all_tenants })
    }
}

/// Returns the text of a field. `None`: it is empty.
fn filled(field: &str) -> Option<String> {
    Some(field.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The way of a path.
#[derive(Deserialize)]
struct AlertWayPath {
    way: AlertWayId,
}

async fn add_in_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<AlertWayForm>,
) -> Result<Response, Refusal> {
    AlertWaysPlace::of_tenant(place)?.add(&desk, form).await
}

async fn add_in_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    OwnForm(form): OwnForm<AlertWayForm>,
) -> Result<Response, Refusal> {
    AlertWaysPlace::of_desk(place)?.add(&desk, form).await
}

async fn test_in_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(AlertWayPath { way }): Path<AlertWayPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    AlertWaysPlace::of_tenant(place)?.test(&desk, way).await
}

async fn test_in_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Path(AlertWayPath { way }): Path<AlertWayPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    AlertWaysPlace::of_desk(place)?.test(&desk, way).await
}

async fn confirm_in_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(AlertWayPath { way }): Path<AlertWayPath>,
) -> Result<Response, Refusal> {
    AlertWaysPlace::of_tenant(place)?.confirm(&desk, way).await
}

async fn confirm_in_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Path(AlertWayPath { way }): Path<AlertWayPath>,
) -> Result<Response, Refusal> {
    AlertWaysPlace::of_desk(place)?.confirm(&desk, way).await
}

async fn remove_in_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(AlertWayPath { way }): Path<AlertWayPath>,
    OwnForm(form): OwnForm<ConfirmForm>,
) -> Result<Response, Refusal> {
    AlertWaysPlace::of_tenant(place)?.remove(&desk, way, &form).await
}

async fn remove_in_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Path(AlertWayPath { way }): Path<AlertWayPath>,
    OwnForm(form): OwnForm<ConfirmForm>,
) -> Result<Response, Refusal> {
    AlertWaysPlace::of_desk(place)?.remove(&desk, way, &form).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_a_request_for_the_kind_of_way_that_it_fills_in() {
        let form = |mail: &str, coverage: &str| AlertWayForm {
            mail: mail.to_owned(),
            coverage: coverage.to_owned(),
            ..AlertWayForm::default()
        };
        let request = form(" ops@a.example ", "all-tenants").into_request().unwrap();

        assert_eq!(request.mail.as_deref(), Some("ops@a.example"));
        assert!(request.webhook.is_none() && request.chat.is_none() && request.all_tenants);
        assert!(!form("ops@a.example", "").into_request().unwrap().all_tenants);
        assert!(form("ops@a.example", "odd").into_request().is_err());
    }

    #[test]
    fn a_chat_needs_the_id_of_a_bot() {
        let form = |bot: &str| AlertWayForm {
            chat: "C42".to_owned(),
            agent: "owl".to_owned(),
            bot: bot.to_owned(),
            ..AlertWayForm::default()
        };
        let bot = "00000000-0000-0000-0000-000000000007";
        let chat = form(bot).into_request().unwrap().chat.unwrap();

        assert_eq!((chat.agent.as_str(), chat.bot.to_string().as_str()), ("owl", bot));
        assert_eq!((chat.chat_id.as_str(), chat.tenant), ("C42", None));
        assert!(form("@owl_bot").into_request().is_err());
    }
}
