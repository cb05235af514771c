//! `/v1/tenants/{tenant}/wakes`, `/v1/tenants/{tenant}/agents/{agent}/wake`: sleeping agents, their URLs and calls.

use axum::Json;
use axum::extract::State;
use nightdesk_office::{AgentWakeView, WakeCallView, WakeTrialView, WakeUrlsView};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::NamePage;
use crate::extract::{
    AgentAccess, JsonBody, Manage, Read, RequestBody, TenantAccess, UrlQuery, Work,
};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show, call))
        .routes(routes!(try_wake))
        .routes(routes!(show_urls, set_urls))
}

/// The wake URLs of an agent.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WakeUrlsRequest {
    /// The URLs, in the order of calls. An empty list removes all.
    urls: Vec<String>,
}

impl RequestBody for WakeUrlsRequest {
    const EXPECTED: &'static str = "send JSON with urls, a list in the order of calls";
}

/// Lists the wake status of a tenant's agents, by name.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/wakes", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("after" = Option<String>, Query, description = "The last agent of the previous page"),
    ),
    responses((status = 200, description = "A page of agents", body = Vec<AgentWakeView>), Problems)
)]
async fn list(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(page): UrlQuery<NamePage>,
) -> Result<Json<Vec<AgentWakeView>>, Problem> {
    Ok(Json(api.office.wakes(scope, &page.after).await?))
}

/// Shows the wake status of an agent.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/wake", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "The status", body = AgentWakeView), Problems)
)]
async fn show(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Read>,
) -> Result<Json<AgentWakeView>, Problem> {
    Ok(Json(api.office.wake(scope, agent).await?))
}

/// Calls a sleeping agent now, even if no entry waits for it. The response has the result of the call.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/wake", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "The result", body = WakeCallView), Problems)
)]
async fn call(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Work>,
) -> Result<Json<WakeCallView>, Problem> {
    Ok(Json(api.office.call_agent(scope, agent).await?))
}

/// Puts a test entry into the inbox of a sleeping agent, and calls the agent. The response comes after the call, at
/// most half a minute later.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/wake/trial", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "The entry and the call", body = WakeTrialView), Problems)
)]
async fn try_wake(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Work>,
) -> Result<Json<WakeTrialView>, Problem> {
    Ok(Json(api.office.try_wake(scope, agent).await?))
}

/// Shows the wake URLs of an agent. They can be secrets, so it needs the right `manage`.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/wake-urls", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "The URLs", body = WakeUrlsView), Problems)
)]
async fn show_urls(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
) -> Result<Json<WakeUrlsView>, Problem> {
    Ok(Json(api.office.wake_urls(scope, agent).await?))
}

/// Sets the wake URLs of an agent.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{agent}/wake-urls", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    request_body = WakeUrlsRequest,
    responses((status = 200, description = "The URLs", body = WakeUrlsView), Problems)
)]
async fn set_urls(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    JsonBody(WakeUrlsRequest { urls }): JsonBody<WakeUrlsRequest>,
) -> Result<Json<WakeUrlsView>, Problem> {
    Ok(Json(api.office.set_wake_urls(scope, agent, &urls).await?))
}
