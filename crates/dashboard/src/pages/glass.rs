//! `/t/{tenant}/glass`, `/glass`: requests of operators to read messages, and their approval.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::GlassView;
use nightdesk_pages::render_page;
use nightdesk_types::BreakGlassId;
use nightdesk_users::{Place, Right};
use serde::Deserialize;

use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::layout::{Layout, Section};
use crate::notice::Notice;
use crate::place::{DeskPlace, TenantPlace};
use crate::refusal::Refusal;
use crate::session::{NoFields, OwnForm};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}/glass", get(show_tenant).post(ask))
        .route("/glass", get(show_desk))
        .route("/glass/{request}/approve", post(approve))
        .route("/glass/{request}/end", post(end))
}

#[derive(Template)]
#[template(path = "glass.html")]
struct GlassPage {
    layout: Layout,
    clock: PageClock,
    requests: Vec<GlassView>,
    /// The address at which an operator asks, on a tenant's page.
    ask_path: Option<String>,
    may_approve: bool,
}

async fn show_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
) -> Result<Response, Refusal> {
    let may_operate = place.access.allows(Place::Desk, Right::Operate);
    Ok(render_page(&GlassPage {
        layout: place.layout(Section::Users),
        clock: desk.page_clock(),
        requests: desk.office().glass_requests(Some(place.scope)).await?,
        ask_path: may_operate.then(|| format!("{}/glass", place.path())),
        may_approve: may_operate,
    }))
}

async fn show_desk(State(desk): State<Dashboard>, place: DeskPlace) -> Result<Response, Refusal> {
    place.check(Right::Read)?;
    Ok(render_page(&GlassPage {
        layout: place.layout(Section::DeskUsers),
        clock: desk.page_clock(),
        requests: desk.office().glass_requests(None).await?,
        ask_path: None,
        may_approve: place.access.allows(Place::Desk, Right::Operate),
    }))
}

/// A request.
#[derive(Deserialize)]
struct GlassForm {
    reason: String,
    minutes: u32,
}

async fn ask(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<GlassForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Operate)?;
    desk.office().ask_glass(&place.access, scope, &form.reason, form.minutes).await?;
    Ok(Notice::GlassAsked.redirect(&format!("{}/glass", place.path())))
}

/// The request of a path.
#[derive(Deserialize)]
struct GlassPath {
    request: BreakGlassId,
}

async fn approve(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Path(GlassPath { request }): Path<GlassPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    place.check(Right::Operate)?;
    desk.office().approve_glass(&place.access, request).await?;
    Ok(Notice::GlassApproved.redirect("/glass"))
}

async fn end(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Path(GlassPath { request }): Path<GlassPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    place.check(Right::Operate)?;
    desk.office().end_glass(&place.access, request).await?;
    Ok(Notice::GlassEnded.redirect("/glass"))
}
