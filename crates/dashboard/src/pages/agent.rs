//! `/t/{tenant}/agents/{agent}`: an agent, its condition, its inbox, its wakes, its jobs, its letters and its reach.

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use nightdesk_letters::Party;
use nightdesk_office::{
    AgentReachView, AgentRow, FireListQuery, FireView, GatewayView, InboxView, JobListQuery,
    JobView, LetterView, LineView, LoggedWakeView, ReceivedLetterView,
};
use nightdesk_pages::render_page;
use nightdesk_types::Seq;
use nightdesk_users::{Access, Right};
use serde::Deserialize;

use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::layout::{Layout, Section};
use crate::live::{LiveFragment, LiveRequest};
use crate::place::{AgentPlace, agent_path, find_tenant};
use crate::refusal::{Refusal, rendered};
use crate::state::Dashboard;

/// Rows of the short lists of the page.
const ROWS: usize = 10;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}/agents/{agent}", get(show))
        .route("/t/{tenant}/agents/{agent}/live", get(live))
}

#[derive(Template)]
#[template(path = "agent.html")]
struct AgentPage {
    layout: Layout,
    clock: PageClock,
    name: String,
    path: String,
    tenant_path: String,
    fragment: String,
    jobs: Vec<JobView>,
    misses: Vec<FireView>,
    received: Vec<ReceivedLetterView>,
    sent: Vec<LetterView>,
    reach: AgentReachView,
    gateways: Vec<GatewayView>,
    /// The wake URLs, for a user that may change them.
    urls: Vec<String>,
    may_work: bool,
    may_manage: bool,
}

/// The part that changes: the condition, the inbox, the line and the wakes.
#[derive(Template)]
#[template(path = "agent_live.html")]
struct AgentRows {
    clock: PageClock,
    path: String,
    row: AgentRow,
    inbox: InboxView,
    next: Option<String>,
    line: Option<LineView>,
    wakes: Vec<LoggedWakeView>,
}

struct AgentFragment {
    tenant: String,
    agent: String,
    after: i64,
}

impl LiveFragment for AgentFragment {
    async fn render(&self, desk: &Dashboard, access: &Access) -> Result<String, Refusal> {
        let scope = find_tenant(desk, access, &self.tenant).await?;
        let office = desk.office();
        let agent = office.agent(scope, &self.agent).await?;
        let inbox = office.inbox(scope, agent, Seq::new(self.after)).await?;
        let path = agent_path(&self.tenant, &self.agent);
        rendered(&AgentRows {
            clock: desk.page_clock(),
            row: office.agent_row(scope, agent, desk.now()).await?,
            next: next_entries(&path, &inbox),
            inbox,
            line: office.newest_line(scope, agent).await?,
            wakes: office.logged_wakes(scope, agent).await?,
            path,
        })
    }
}

/// Returns the address of later entries, if one of the lists is full. The full list that ends first decides.
fn next_entries(path: &str, inbox: &InboxView) -> Option<String> {
    let full = [&inbox.waiting, &inbox.parked].into_iter();
    let full = full.filter(|entries| entries.len() >= nightdesk_office::LIST_ROWS);
    let last = full.filter_map(|entries| entries.last()).map(|entry| entry.seq).min()?;
    Some(format!("{path}?after={last}"))
}

/// The query of the page.
#[derive(Deserialize)]
struct AgentQuery {
    #[serde(default)]
    after: i64,
}

async fn show(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Query(query): Query<AgentQuery>,
) -> Result<Response, Refusal> {
    let (office, scope, agent) = (desk.office(), place.in_tenant.scope, place.agent);
    let fragment = fragment_of(&place, &query);
    let row = office.agent_row(scope, agent, desk.now()).await?;
    let jobs = JobListQuery { agent: Some(place.called.clone()), after: None };
    let mut jobs = office.jobs(scope, &jobs).await?;
    jobs.retain(|job| job.due.is_some());
    jobs.sort_by(|one, other| one.due.cmp(&other.due));
    jobs.truncate(ROWS);
    let fires = FireListQuery { agent: Some(place.called.clone()), ..FireListQuery::default() };
    let mut misses = office.fires(scope, &fires).await?;
    misses.retain(|fire| ["missed", "skipped"].contains(&fire.state));
    misses.truncate(ROWS);
    let mut sent = office.letters(&place.in_tenant.access, Party { scope, agent }, None).await?;
    sent.truncate(ROWS);
    let mut received = office.received_letters(scope, agent).await?;
    received.truncate(ROWS);
    let gateways = office.gateways_of(scope, agent).await?;
    let may_manage = place.in_tenant.allows(Right::Manage);
    let urls = if may_manage { office.wake_urls(scope, agent).await?.urls } else { Vec::new() };
    Ok(render_page(&AgentPage {
        layout: place.in_tenant.layout(Section::Tenant),
        clock: desk.page_clock(),
        name: row.name,
        path: place.path(),
        tenant_path: place.in_tenant.path(),
        fragment: fragment.render(&desk, &place.in_tenant.access).await?,
        jobs,
        misses,
        received,
        sent,
        reach: office.reach(scope, agent).await?,
        gateways,
        urls,
        may_work: place.in_tenant.allows(Right::Work),
        may_manage,
    }))
}

fn fragment_of(place: &AgentPlace, query: &AgentQuery) -> AgentFragment {
    let (tenant, agent) = (place.in_tenant.tenant.clone(), place.called.clone());
    AgentFragment { tenant, agent, after: query.after }
}

async fn live(
    request: LiveRequest,
    place: AgentPlace,
    Query(query): Query<AgentQuery>,
) -> Response {
    request.stream(fragment_of(&place, &query))
}
