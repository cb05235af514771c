//! `/v1/admin/signing-keys`, `/v1/tenants/{tenant}/agents/{agent}/token`, `…/sessions`: the desk's signing keys, and
//! the tokens and sessions of agents.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{
    AgentTokenView, BoundSession, EndedSession, RetiredSigningKey, SessionCredentials,
    SigningKeyView,
};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{
    AgentAccess, DeskAccess, JsonBody, Manage, Operate, QueryParameters, Read, RequestBody,
    TenantAccess, UrlQuery,
};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list_signing_keys))
        .routes(routes!(retire_signing_key))
        .routes(routes!(create_agent_token))
        .routes(routes!(begin_session))
        .routes(routes!(bind_session))
        .routes(routes!(end_session))
}

/// The issuer of a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionIssuer {
    /// The issuer, as its tokens name it.
    issuer: String,
}

impl RequestBody for SessionIssuer {
    const EXPECTED: &'static str = "send JSON with issuer, as its tokens name it";
}

/// The issuer of a session, if it is not this desk.
#[derive(Deserialize)]
pub(super) struct SessionQuery {
    issuer: Option<String>,
}

impl QueryParameters for SessionQuery {
    const EXPECTED: &'static str = "issuer is the issuer of the session, as its tokens name it";
}

/// The session of a path.
#[derive(Deserialize)]
pub(super) struct SessionPath {
    session: String,
}

/// Lists the keys that sign the desk's tokens, oldest first.
#[utoipa::path(
    get, path = "/v1/admin/signing-keys", tag = "office", security(("user" = [])),
    responses((status = 200, description = "The keys", body = Vec<SigningKeyView>), Problems)
)]
async fn list_signing_keys(
    State(api): State<ApiState>,
    _: DeskAccess<Read>,
) -> Result<Json<Vec<SigningKeyView>>, Problem> {
    Ok(Json(api.office.signing_keys(api.now()).await?))
}

/// Retires a key at once: no token that it signed is accepted any more.
#[utoipa::path(
    post, path = "/v1/admin/signing-keys/{kid}/retire", tag = "office", security(("user" = [])),
    params(("kid" = String, Path, description = "The key's name")),
    responses((status = 200, description = "It is retired", body = RetiredSigningKey), Problems)
)]
async fn retire_signing_key(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
    Path(kid): Path<String>,
) -> Result<Json<RetiredSigningKey>, Problem> {
    Ok(Json(api.office.retire_signing_key(&access, kid).await?))
}

/// Returns a token whose bearer speaks for one agent, for an hour.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/token", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 201, description = "The token, shown once", body = AgentTokenView), Problems)
)]
async fn create_agent_token(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
) -> Result<(StatusCode, Json<AgentTokenView>), Problem> {
    let token = api.office.agent_token(scope, agent, api.now()).await?;
    Ok((StatusCode::CREATED, Json(token)))
}

/// Begins a session for an unattended agent, which renews its access by itself until the session is ended.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/sessions", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses(
        (status = 201, description = "The credentials, shown once", body = SessionCredentials),
        Problems,
    )
)]
async fn begin_session(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
) -> Result<(StatusCode, Json<SessionCredentials>), Problem> {
    let begun = api.office.begin_session(scope, agent, api.now()).await?;
    Ok((StatusCode::CREATED, Json(begun)))
}

/// Records that a session of another issuer belongs to an agent.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{agent}/sessions/{session}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("session" = String, Path, description = "The issuer's id for the session: `sid` in its tokens"),
    ),
    request_body = SessionIssuer,
    responses((status = 200, description = "It is the agent's", body = BoundSession), Problems)
)]
async fn bind_session(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    Path(SessionPath { session }): Path<SessionPath>,
    JsonBody(SessionIssuer { issuer }): JsonBody<SessionIssuer>,
) -> Result<Json<BoundSession>, Problem> {
    Ok(Json(api.office.bind_session(scope, agent, &issuer, &session).await?))
}

/// Ends a session: no token of it is accepted any more.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/sessions/{session}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("session" = String, Path, description = "The issuer's id for the session"),
        ("issuer" = Option<String>, Query, description = "The issuer, if it is not this desk"),
    ),
    responses((status = 200, description = "It is ended", body = EndedSession), Problems)
)]
async fn end_session(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(SessionPath { session }): Path<SessionPath>,
    UrlQuery(SessionQuery { issuer }): UrlQuery<SessionQuery>,
) -> Result<Json<EndedSession>, Problem> {
    Ok(Json(api.office.end_session(scope, issuer, &session).await?))
}
