//! `/v1/tenants/{tenant}/jobs`, `/v1/tenants/{tenant}/fires`, `/v1/tenants/{tenant}/agents/{agent}/jobs/{job}`: jobs of
//! agents and their fires.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{
    ArmedJobView, FireListQuery, FireView, JobCancelView, JobFireView, JobListQuery, JobView,
    NewJobRequest, TextAccess,
};
use nightdesk_users::{Place, Right};
use serde::Deserialize;
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::identities::created;
use crate::extract::{
    AgentAccess, JsonBody, QueryParameters, Read, RequestBody, TenantAccess, UrlQuery, Work,
};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(fires))
        .routes(routes!(show, add, cancel))
        .routes(routes!(fire_now))
}

impl QueryParameters for JobListQuery {
    const EXPECTED: &'static str =
        "agent is a name or id, and after is `key` of the last job of the previous page";
}

impl QueryParameters for FireListQuery {
    const EXPECTED: &'static str =
        "agent is a name or id, job is one of its jobs, and before is the id of a fire";
}

impl RequestBody for NewJobRequest {
    const EXPECTED: &'static str = "send JSON with fire_at or in_seconds, and with say or callback";
}

/// The job of a path.
#[derive(Deserialize)]
pub(super) struct JobPath {
    job: String,
}

/// Lists jobs, armed or not, by agent and name.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/jobs", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = Option<String>, Query, description = "Only this agent, by name or id"),
        ("after" = Option<String>, Query, description = "The `key` of the last job of the previous page"),
    ),
    responses((status = 200, description = "A page of jobs", body = Vec<JobView>), Problems)
)]
async fn list(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(filter): UrlQuery<JobListQuery>,
) -> Result<Json<Vec<JobView>>, Problem> {
    Ok(Json(api.office.jobs(scope, &filter).await?))
}

/// Lists the results of fires, newest first.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/fires", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = Option<String>, Query, description = "Only this agent, by name or id"),
        ("job" = Option<String>, Query, description = "Only this job of the agent"),
        ("before" = Option<String>, Query, description = "The last fire of the previous page"),
    ),
    responses((status = 200, description = "A page of fires", body = Vec<FireView>), Problems)
)]
async fn fires(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(filter): UrlQuery<FireListQuery>,
) -> Result<Json<Vec<FireView>>, Problem> {
    Ok(Json(api.office.fires(scope, &filter).await?))
}

/// Shows a job. Its text `words` is null for a caller without the right `messages`.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/jobs/{job}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("job" = String, Path, description = "The agent's id for the job"),
    ),
    responses((status = 200, description = "The job", body = serde_json::Value), Problems)
)]
async fn show(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Read>,
    Path(JobPath { job }): Path<JobPath>,
) -> Result<Json<Value>, Problem> {
    let reads_messages = access.allows(Place::Tenant(scope.tenant()), Right::ReadMessages);
    let content = if reads_messages { TextAccess::Shown } else { TextAccess::Hidden };
    Ok(Json(api.office.job(scope, agent, &job, content).await?))
}

/// Arms a job that fires once. The same call again returns the same job, unless it has a delay in place of a time.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{agent}/jobs/{job}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("job" = String, Path, description = "A name for the job"),
    ),
    request_body = NewJobRequest,
    responses(
        (status = 201, description = "It was armed", body = ArmedJobView),
        (status = 200, description = "It was armed before", body = ArmedJobView),
        Problems,
    )
)]
async fn add(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Work>,
    Path(JobPath { job }): Path<JobPath>,
    JsonBody(request): JsonBody<NewJobRequest>,
) -> Result<(StatusCode, Json<ArmedJobView>), Problem> {
    let (armed, is_new) = api.office.add_job(scope, agent, &job, request).await?;
    Ok((created(is_new), Json(armed)))
}

/// Cancels a job: it is not fired any more.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/agents/{agent}/jobs/{job}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("job" = String, Path, description = "The agent's id for the job"),
    ),
    responses((status = 200, description = "It is cancelled", body = JobCancelView), Problems)
)]
async fn cancel(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Work>,
    Path(JobPath { job }): Path<JobPath>,
) -> Result<Json<JobCancelView>, Problem> {
    Ok(Json(api.office.cancel_job(scope, agent, &job).await?))
}

/// Fires a job now, in place of its next time. An agent whose job recurs arms it again.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/jobs/{job}/fire", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("job" = String, Path, description = "The agent's id for the job"),
    ),
    responses((status = 200, description = "It fires", body = JobFireView), Problems)
)]
async fn fire_now(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Work>,
    Path(JobPath { job }): Path<JobPath>,
) -> Result<Json<JobFireView>, Problem> {
    Ok(Json(api.office.fire_job(scope, agent, &job).await?))
}
