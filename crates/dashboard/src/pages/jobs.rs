//! `/t/{tenant}/jobs`: the jobs of agents and their fires. `/t/{tenant}/agents/{agent}/jobs/{job}`: one job.

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{FireListQuery, FireView, JobListQuery, JobView, TextAccess};
use nightdesk_pages::render_page;
use nightdesk_types::limits::FIRES_PAGE_MAX;
use nightdesk_users::Right;
use serde::Deserialize;
use serde_json::Value;

use super::next_page;
use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::confirm::{ConfirmForm, Confirmation};
use crate::layout::{Layout, Section, encode};
use crate::notice::Notice;
use crate::place::{AgentPlace, TenantPlace};
use crate::refusal::{Refusal, bad_form};
use crate::secret::{Fact, fact};
use crate::session::{NoFields, OwnForm};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    const JOB: &str = "/t/{tenant}/agents/{agent}/jobs/{job}";
    Router::new()
        .route("/t/{tenant}/jobs", get(list))
        .route("/t/{tenant}/fires", get(list_fires))
        .route(JOB, get(show))
        .route(&format!("{JOB}/fire"), post(fire))
        .route(&format!("{JOB}/cancel"), get(confirm_cancel).post(cancel))
}

#[derive(Template)]
#[template(path = "jobs.html")]
struct JobsPage {
    layout: Layout,
    clock: PageClock,
    path: String,
    /// The agent of the list.
    agent: String,
    jobs: Vec<JobView>,
    next: Option<String>,
}

/// Returns the query without an empty agent: a form sends the field also if nothing was written.
fn named(agent: Option<String>) -> Option<String> {
    agent.map(|agent| agent.trim().to_owned()).filter(|agent| !agent.is_empty())
}

async fn list(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Query(query): Query<JobListQuery>,
) -> Result<Response, Refusal> {
    let query = JobListQuery { agent: named(query.agent), ..query };
    let jobs = desk.office().jobs(place.scope, &query).await?;
    let agent = query.agent.unwrap_or_default();
    let list = format!("{}/jobs?agent={}", place.path(), encode(&agent));
    Ok(render_page(&JobsPage {
        layout: place.layout(Section::Jobs),
        clock: desk.page_clock(),
        path: place.path(),
        next: next_page(&list, &jobs, |job| &job.key),
        agent,
        jobs,
    }))
}

#[derive(Template)]
#[template(path = "fires.html")]
struct FiresPage {
    layout: Layout,
    clock: PageClock,
    path: String,
    fires: Vec<FireView>,
    next: Option<String>,
}

async fn list_fires(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Query(query): Query<FireListQuery>,
) -> Result<Response, Refusal> {
    let query = FireListQuery { agent: named(query.agent), ..query };
    let fires = desk.office().fires(place.scope, &query).await?;
    let last = fires.last().filter(|_| fires.len() >= FIRES_PAGE_MAX);
    let agent = encode(&query.agent.unwrap_or_default());
    let job = query.job.map(|job| format!("&job={}", encode(&job))).unwrap_or_default();
    let next = last
        .map(|fire| format!("{}/fires?agent={agent}{job}&before={}", place.path(), fire.fire_id));
    Ok(render_page(&FiresPage {
        layout: place.layout(Section::Jobs),
        clock: desk.page_clock(),
        path: place.path(),
        fires,
        next,
    }))
}

#[derive(Template)]
#[template(path = "job.html")]
struct JobPage {
    layout: Layout,
    clock: PageClock,
    agent: String,
    agent_path: String,
    tenant_path: String,
    job: String,
    path: String,
    state: String,
    due: Option<String>,
    facts: Vec<Fact>,
    fires: Vec<FireView>,
    may_work: bool,
}

/// The job of a path.
#[derive(Deserialize)]
struct JobPath {
    job: String,
}

fn job_path(place: &AgentPlace, job: &str) -> String {
    format!("{}/jobs/{}", place.path(), encode(job))
}

async fn show(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Path(JobPath { job }): Path<JobPath>,
) -> Result<Response, Refusal> {
    let may_read = place.in_tenant.allows(Right::ReadMessages);
    let content = if may_read { TextAccess::Shown } else { TextAccess::Hidden };
    let found = desk.office().job(place.in_tenant.scope, place.agent, &job, content).await?;
    let agent = Some(place.called.clone());
    let fires = FireListQuery { agent, job: Some(job.clone()), before: None };
    let text = |key: &str| found[key].as_str().map(str::to_owned);
    Ok(render_page(&JobPage {
        layout: place.in_tenant.layout(Section::Jobs),
        clock: desk.page_clock(),
        agent: place.called.clone(),
        agent_path: place.path(),
        tenant_path: place.in_tenant.path(),
        path: job_path(&place, &job),
        state: text("state").unwrap_or_default(),
        due: text("due"),
        facts: job_facts(&found),
        fires: desk.office().fires(place.in_tenant.scope, &fires).await?,
        job,
        may_work: place.in_tenant.allows(Right::Work),
    }))
}

/// Returns what a job does, and by which policies.
fn job_facts(job: &Value) -> Vec<Fact> {
    const NAMES: [(&str, &str); 7] = [
        ("told_at", "Delivered to"),
        ("words", "Message"),
        ("recurring", "Recurring"),
        ("overlap", "If the last run still goes on"),
        ("catch_up_seconds", "Seconds after which it is missed"),
        ("jitter_seconds", "Seconds of jitter"),
        ("should_be_armed_since", "Should be armed since"),
    ];
    let word = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_so) => Some(if *is_so { "yes" } else { "no" }.to_owned()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    NAMES.into_iter().filter_map(|(key, name)| Some(fact(name, word(&job[key])?))).collect()
}

async fn fire(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Path(JobPath { job }): Path<JobPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Work)?;
    desk.office().fire_job(scope, place.agent, &job).await?;
    Ok(Notice::JobFired.redirect(&job_path(&place, &job)))
}

async fn confirm_cancel(
    place: AgentPlace,
    Path(JobPath { job }): Path<JobPath>,
) -> Result<Response, Refusal> {
    place.in_tenant.scope_for(Right::Work)?;
    let page = job_path(&place, &job);
    let confirmation = Confirmation {
        layout: place.in_tenant.layout(Section::Jobs),
        title: format!("Cancel the job {job}?"),
        text: "It does not fire any more, unless its agent arms it again.".to_owned(),
        action: format!("{page}/cancel"),
        confirm: job,
        button: "Cancel the job",
        back: page,
    };
    Ok(confirmation.into_response())
}

async fn cancel(
    State(desk): State<Dashboard>,
    place: AgentPlace,
    Path(JobPath { job }): Path<JobPath>,
    OwnForm(form): OwnForm<ConfirmForm>,
) -> Result<Response, Refusal> {
    let scope = place.in_tenant.scope_for(Right::Work)?;
    if form.confirm != job {
        return Err(bad_form());
    }
    desk.office().cancel_job(scope, place.agent, &job).await?;
    Ok(Notice::JobCancelled.redirect(&format!("{}/jobs", place.in_tenant.path())))
}
