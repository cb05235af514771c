//! The forms of an agent's page: wakes, gateways, wake URLs and link codes.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_users::Right;
use serde::Deserialize;

use super::NameForm;
use crate::confirm::{ConfirmForm, Confirmation};
use crate::layout::{Section, encode};
use crate::notice::Notice;
use crate::place::AgentPlace;
use crate::refusal::{Refusal, bad_form};
use crate::secret::{SecretPage, fact};
use crate::session::{NoFields, OwnForm};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    const PAGE: &str = "/t/{tenant}/agents/{agent}";
    Router::new()
        .route(&format!("{PAGE}/wake"), post(wake))
        .route(&format!("{PAGE}/trial"), post(try_wake))
        .route(&format!("{PAGE}/wake-urls"), post(set_wake_urls))
        .route(&format!("{PAGE}/link-codes"), post(make_link_code))
        .route(&format!("{PAGE}/gateways"), post(create_gateway))
        .route(&format!("{PAGE}/gateways/{{gateway}}/revoke"), get(confirm_revoke).post(revoke))
}

async fn wake(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Work)?;
    desk.office().call_agent(scope, place.agent).await?;
    Ok(Notice::Called.redirect(&place.path()))
}

async fn try_wake(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Work)?;
    desk.office().try_wake(scope, place.agent).await?;
    Ok(Notice::TrialBegun.redirect(&place.path()))
}

/// The wake URLs, one on each line.
#[derive(Deserialize)]
struct WakeUrlsForm {
    #[serde(default)]
    urls: String,
}

async fn set_wake_urls(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    OwnForm(form): OwnForm<WakeUrlsForm>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Manage)?;
    let lines = form.urls.lines().map(str::trim).filter(|line| !line.is_empty());
    let urls: Vec<String> = lines.map(str::to_owned).collect();
    desk.office().set_wake_urls(scope, place.agent, &urls).await?;
    Ok(Notice::WakeUrlsSet.redirect(&place.path()))
}

async fn make_link_code(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Manage)?;
    let code = desk.office().create_link_code(scope, place.agent).await?;
    let bots: Vec<String> =
        code.to.iter().map(|bot| format!("{} on {}", bot.handle, bot.platform)).collect();
    let page = SecretPage {
        layout: place.in_tenant.layout(Section::Tenant),
        title: "A code for one person".to_owned(),
        text: "The person writes this message to one of the bots. The code works once, and is shown only here.",
        facts: vec![
            fact("Message", code.say),
            fact("To one of", bots.join(", ")),
            fact("Valid for", code.good_for),
        ],
        back: place.path(),
    };
    Ok(page.into_response())
}

async fn create_gateway(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    OwnForm(form): OwnForm<NameForm>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Manage)?;
    let made = desk.office().create_gateway(scope, place.agent, form.name.trim()).await?;
    let page = SecretPage {
        layout: place.in_tenant.layout(Section::Tenant),
        title: format!("The gateway {}", made.gateway),
        text: "Give these values to the agent's client. The secret is shown only here.",
        facts: vec![
            fact("GATEWAY_RELAY_URL", desk.public_url()),
            fact("GATEWAY_RELAY_ID", made.gateway),
            fact("GATEWAY_RELAY_SECRET", made.secret),
        ],
        back: place.path(),
    };
    Ok(page.into_response())
}

/// The gateway of a path.
#[derive(Deserialize)]
struct GatewayPath {
    gateway: String,
}

async fn confirm_revoke(
    place: AgentPlace,
    Path(GatewayPath { gateway }): Path<GatewayPath>,
) -> Result<Response, Refusal> {
    place.in_tenant.scope_for(Right::Manage)?;
    let page = Confirmation {
        layout: place.in_tenant.layout(Section::Tenant),
        title: format!("Revoke the gateway {gateway}?"),
        text:
            "Its line is closed at once, and its client does not come back. This cannot be undone."
                .to_owned(),
        action: format!("{}/gateways/{}/revoke", place.path(), encode(&gateway)),
        confirm: gateway,
        button: "Revoke it",
        back: place.path(),
    };
    Ok(page.into_response())
}

async fn revoke(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Path(GatewayPath { gateway }): Path<GatewayPath>,
    OwnForm(form): OwnForm<ConfirmForm>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Manage)?;
    if form.confirm != gateway {
        return Err(bad_form());
    }
    desk.office().revoke_gateway(scope, &gateway).await?;
    Ok(Notice::GatewayRevoked.redirect(&place.path()))
}
