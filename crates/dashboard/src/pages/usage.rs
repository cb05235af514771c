//! `/t/{tenant}/usage`, `/usage`: messages, wakes, the time awake and fires of the last 30 days.

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use nightdesk_office::{TenantUsageView, UsageView};
use nightdesk_pages::render_page;
use nightdesk_users::Right;

use super::{NamePage, next_page};
use crate::assets::ASSETS;
use crate::chart::usage_charts;
use crate::layout::{Layout, Section};
use crate::place::{DeskPlace, TenantPlace};
use crate::refusal::Refusal;
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/t/{tenant}/usage", get(show_tenant)).route("/usage", get(show_desk))
}

#[derive(Template)]
#[template(path = "usage.html")]
struct UsagePage {
    layout: Layout,
    charts: Vec<String>,
    /// The days, newest first.
    days: Vec<UsageView>,
    /// The tenants, on the page of the desk.
    tenants: Vec<TenantUsageView>,
    next: Option<String>,
}

impl UsagePage {
    fn new(layout: Layout, mut days: Vec<UsageView>) -> Self {
        let charts = usage_charts(&days, "days");
        days.reverse();
        Self { layout, charts, days, tenants: Vec::new(), next: None }
    }
}

async fn show_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
) -> Result<Response, Refusal> {
    let days = desk.office().usage_by_day(Some(place.scope)).await?;
    Ok(render_page(&UsagePage::new(place.layout(Section::Usage), days)))
}

async fn show_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Query(page): Query<NamePage>,
) -> Result<Response, Refusal> {
    place.check(Right::Read)?;
    let days = desk.office().usage_by_day(None).await?;
    let tenants = desk.office().tenants_usage(&place.access, &page.after).await?;
    let next = next_page("/usage", &tenants, |tenant| &tenant.name);
    let page = UsagePage::new(place.layout(Section::DeskUsage), days);
    Ok(render_page(&UsagePage { tenants, next, ..page }))
}
