//! `/`: the tenants that the user sees. A user of a single tenant begins at its page. `/new-tenant`: creates one.

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use nightdesk_office::IdentityView;
use nightdesk_pages::render_page;
use nightdesk_users::{Place, Right};

use super::{NameForm, NamePage, next_page};
use crate::assets::ASSETS;
use crate::chart::usage_charts;
use crate::clock::PageClock;
use crate::layout::{Layout, Section, tenant_path};
use crate::notice::Notice;
use crate::place::DeskPlace;
use crate::refusal::Refusal;
use crate::session::OwnForm;
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/", get(show)).route("/new-tenant", get(show_form).post(create))
}

#[derive(Template)]
#[template(path = "desk.html")]
struct DeskPage {
    layout: Layout,
    clock: PageClock,
    charts: Vec<String>,
    tenants: Vec<IdentityView>,
    next: Option<String>,
    may_create: bool,
}

async fn show(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Query(page): Query<NamePage>,
) -> Result<Response, Refusal> {
    let tenants = desk.office().tenants(&place.access, &page.after).await?;
    let sees_desk = place.access.sees_desk();
    if let ([tenant], false) = (tenants.as_slice(), sees_desk) {
        return Ok(Redirect::to(&tenant_path(&tenant.name)).into_response());
    }
    let usage = if sees_desk { desk.office().usage_by_hour(None).await? } else { Vec::new() };
    Ok(render_page(&DeskPage {
        layout: place.layout(Section::Desk),
        clock: desk.page_clock(),
        charts: if sees_desk { usage_charts(&usage, "hours") } else { Vec::new() },
        next: next_page("/", &tenants, |tenant| &tenant.name),
        tenants,
        may_create: place.access.allows(Place::Desk, Right::Operate),
    }))
}

/// A form for an object that has only a name.
#[derive(Template)]
#[template(path = "new_name.html")]
pub(super) struct NewNamePage {
    pub(super) layout: Layout,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
    pub(super) action: String,
    pub(super) button: &'static str,
}

async fn show_form(place: DeskPlace) -> Result<Response, Refusal> {
    place.check(Right::Operate)?;
    Ok(render_page(&NewNamePage {
        layout: place.layout(Section::Desk),
        title: "New tenant",
        text: "A tenant is a customer or a team. No tenant sees another.",
        action: "/new-tenant".to_owned(),
        button: "Create the tenant",
    }))
}

async fn create(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    OwnForm(form): OwnForm<NameForm>,
) -> Result<Response, Refusal> {
    place.check(Right::Operate)?;
    let name = form.name.trim();
    desk.office().create_tenant(place.access.actor, name).await?;
    Ok(Notice::TenantCreated.redirect(&tenant_path(name)))
}
