//! `/v1/tenants/{tenant}/summary`, `…/agent-states`, `…/people`, `…/chat-grants`, and the line, the wakes and the received
//! letters of an agent: the state of a tenant at a glance.

use axum::Json;
use axum::extract::State;
use nightdesk_office::{
    AgentListQuery, AgentRow, LineView, LoggedWakeView, OfficeError, ReceivedLetterView,
    TenantGrantView, TenantPersonView, TenantSummary,
};
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{AgentAccess, QueryParameters, Read, TenantAccess, UrlQuery};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(summary))
        .routes(routes!(agent_states))
        .routes(routes!(people))
        .routes(routes!(chat_grants))
        .routes(routes!(newest_line))
        .routes(routes!(logged_wakes))
        .routes(routes!(received_letters))
}

impl QueryParameters for AgentListQuery {
    const EXPECTED: &'static str =
        "state is needed or awake; prefix and after are the beginning and the last name of agents";
}

/// A page of a list whose rows have a `key`.
#[derive(Deserialize)]
pub(super) struct KeyPage {
    pub(super) after: Option<String>,
}

impl QueryParameters for KeyPage {
    const EXPECTED: &'static str = "after is the key of the last row of the previous page";
}

/// Counts a tenant's agents by state, and its waiting and parked entries. A count ends at a bound.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/summary", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The numbers", body = TenantSummary), Problems)
)]
async fn summary(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<TenantSummary>, Problem> {
    Ok(Json(api.office.summary(scope).await?))
}

/// Lists a tenant's agents with their conditions: all by name, or those in a state.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agent-states", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id"), AgentListQuery),
    responses((status = 200, description = "A page of agents", body = Vec<AgentRow>), Problems)
)]
async fn agent_states(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(query): UrlQuery<AgentListQuery>,
) -> Result<Json<Vec<AgentRow>>, Problem> {
    Ok(Json(api.office.agent_rows(scope, &query, api.now()).await?))
}

/// Lists the people who are bound to a tenant's agents.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/people", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("after" = Option<String>, Query, description = "The key of the last row of the previous page"),
    ),
    responses((status = 200, description = "A page of people", body = Vec<TenantPersonView>), Problems)
)]
async fn people(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(KeyPage { after }): UrlQuery<KeyPage>,
) -> Result<Json<Vec<TenantPersonView>>, Problem> {
    Ok(Json(api.office.people(scope, after.as_deref()).await?))
}

/// Lists the chats that are granted to a tenant's agents.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/chat-grants", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("after" = Option<String>, Query, description = "The key of the last row of the previous page"),
    ),
    responses((status = 200, description = "A page of grants", body = Vec<TenantGrantView>), Problems)
)]
async fn chat_grants(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(KeyPage { after }): UrlQuery<KeyPage>,
) -> Result<Json<Vec<TenantGrantView>>, Problem> {
    Ok(Json(api.office.chat_grants(scope, after.as_deref()).await?))
}

/// Shows the newest line of an agent.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/line", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "The line", body = LineView), Problems)
)]
async fn newest_line(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Read>,
) -> Result<Json<LineView>, Problem> {
    let line = api.office.newest_line(scope, agent).await?;
    let missing = || OfficeError::NotFound("the agent never had a line".to_owned());
    Ok(Json(line.ok_or_else(missing)?))
}

/// Lists the last wakes of an agent that ended, newest first, with their times in milliseconds.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/wakes", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "The wakes", body = Vec<LoggedWakeView>), Problems)
)]
async fn logged_wakes(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Read>,
) -> Result<Json<Vec<LoggedWakeView>>, Problem> {
    Ok(Json(api.office.logged_wakes(scope, agent).await?))
}

/// Lists the newest letters that an agent received, without their texts.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/received-letters", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "The letters", body = Vec<ReceivedLetterView>), Problems)
)]
async fn received_letters(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Read>,
) -> Result<Json<Vec<ReceivedLetterView>>, Problem> {
    Ok(Json(api.office.received_letters(scope, agent).await?))
}
