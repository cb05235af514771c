//! `/t/{tenant}`: the state of a tenant at a glance. `/t/{tenant}/new-agent`: creates an agent.

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use nightdesk_office::{AgentListQuery, AgentRow, BotView, TenantSummary};
use nightdesk_pages::render_page;
use nightdesk_users::{Access, Right};

use super::alerts::is_open;
use super::desk::NewNamePage;
use super::{NameForm, next_page};
use crate::assets::ASSETS;
use crate::chart::usage_charts;
use crate::clock::PageClock;
use crate::layout::{Layout, Section, encode, tenant_path};
use crate::live::{LiveFragment, LiveRequest};
use crate::notice::Notice;
use crate::place::{TenantPlace, agent_path, find_tenant};
use crate::refusal::{Refusal, rendered};
use crate::session::OwnForm;
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}", get(show))
        .route("/t/{tenant}/live", get(live))
        .route("/t/{tenant}/new-agent", get(show_form).post(create))
}

#[derive(Template)]
#[template(path = "tenant.html")]
struct TenantPage {
    layout: Layout,
    tenant: String,
    path: String,
    charts: Vec<String>,
    query: AgentListQuery,
    /// The address of the stream of the part that changes.
    live: String,
    fragment: String,
    may_manage: bool,
}

impl TenantPage {
    fn is_state(&self, state: &str) -> bool {
        self.query.state.as_deref() == Some(state)
    }
}

/// The part that changes: the numbers, the agents and the bots.
#[derive(Template)]
#[template(path = "tenant_live.html")]
struct TenantRows {
    clock: PageClock,
    path: String,
    summary: TenantSummary,
    /// The number of open alerts.
    alerts: usize,
    agents: Vec<AgentRow>,
    next: Option<String>,
    bots: Vec<BotView>,
}

struct TenantFragment {
    tenant: String,
    query: AgentListQuery,
}

impl LiveFragment for TenantFragment {
    async fn render(&self, desk: &Dashboard, access: &Access) -> Result<String, Refusal> {
        let scope = find_tenant(desk, access, &self.tenant).await?;
        let path = tenant_path(&self.tenant);
        let agents = desk.office().agent_rows(scope, &self.query, desk.now()).await?;
        let alerts = desk.office().alerts(scope).await?;
        let is_named = self.query.state.as_deref().is_none_or(str::is_empty);
        let list = format!("{path}?prefix={}", encode(&self.query.prefix));
        rendered(&TenantRows {
            clock: desk.page_clock(),
            summary: desk.office().summary(scope).await?,
            alerts: alerts.iter().filter(|alert| is_open(alert)).count(),
            next: next_page(&list, &agents, |agent| &agent.name).filter(|_| is_named),
            agents,
            bots: desk.office().bots(scope).await?,
            path,
        })
    }
}

async fn show(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Query(query): Query<AgentListQuery>,
) -> Result<Response, Refusal> {
    let usage = desk.office().usage_by_hour(Some(place.scope)).await?;
    let path = place.path();
    let state = query.state.clone().unwrap_or_default();
    let (prefix, after) = (encode(&query.prefix), encode(&query.after));
    let live = format!("{path}/live?prefix={prefix}&state={}&after={after}", encode(&state));
    let fragment = TenantFragment { tenant: place.tenant.clone(), query: query.clone() };
    Ok(render_page(&TenantPage {
        layout: place.layout(Section::Tenant),
        charts: usage_charts(&usage, "hours"),
        fragment: fragment.render(&desk, &place.access).await?,
        tenant: place.tenant.clone(),
        path,
        query,
        live,
        may_manage: place.allows(Right::Manage),
    }))
}

async fn live(
    request: LiveRequest,
    place: TenantPlace,
    Query(query): Query<AgentListQuery>,
) -> Response {
    request.stream(TenantFragment { tenant: place.tenant, query })
}

async fn show_form(place: TenantPlace) -> Result<Response, Refusal> {
    place.scope_for(Right::Manage)?;
    Ok(render_page(&NewNamePage {
        layout: place.layout(Section::Tenant),
        title: "New agent",
        text: "An agent is a program that takes messages, awake or asleep.",
        action: format!("{}/new-agent", place.path()),
        button: "Create the agent",
    }))
}

async fn create(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<NameForm>,
) -> Result<Response, Refusal> {
    let (scope, name) = (place.scope_for(Right::Manage)?, form.name.trim());
    desk.office().create_agent(scope, name).await?;
    Ok(Notice::AgentCreated.redirect(&agent_path(&place.tenant, name)))
}
