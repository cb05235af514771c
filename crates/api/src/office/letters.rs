//! `/v1/tenants/{tenant}/agents/{agent}/letters`: letters in the name of an agent. `…/letter-hooks`: webhooks by which
//! other programs send them. `…/letter-grants`: letters between tenants.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_letters::Party;
use nightdesk_office::{
    CreatedLetterHook, LetterGrantChange, LetterGrantView, LetterHookView, LetterView,
    NewLetterRequest, PeerSelector,
};
use nightdesk_types::LetterId;
use nightdesk_types::limits::LETTER_BODY_BYTES_MAX;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{
    AgentAccess, JsonBody, Manage, QueryParameters, Read, RequestBody, TenantAccess, UrlQuery, Work,
};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list, send))
        .routes(routes!(show))
        .routes(routes!(create_hook))
        .routes(routes!(hooks))
        .routes(routes!(remove_hook))
        .routes(routes!(grants))
        .routes(routes!(grant, withdraw))
}

/// A page of letters.
#[derive(Deserialize)]
pub(super) struct SentLetterPage {
    before: Option<LetterId>,
}

impl QueryParameters for SentLetterPage {
    const EXPECTED: &'static str = "before is the id of the last letter of the previous page";
}

/// The path of a letter.
#[derive(Deserialize)]
pub(super) struct LetterPath {
    id: String,
}

/// The path of a webhook.
#[derive(Deserialize)]
pub(super) struct LetterHookPath {
    name: String,
}

/// The path of a grant.
#[derive(Deserialize)]
pub(super) struct LetterGrantPath {
    peer_tenant: String,
    peer_agent: String,
}

impl LetterGrantPath {
    fn peer(self) -> PeerSelector {
        PeerSelector { tenant: self.peer_tenant, agent: self.peer_agent }
    }
}

impl RequestBody for NewLetterRequest {
    const EXPECTED: &'static str =
        "send JSON with to and text, and if needed wait_secs or dispatch_id";
    const BYTES_MAX: usize = LETTER_BODY_BYTES_MAX;
}

/// A webhook to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewLetterHook {
    /// Its name.
    name: String,
}

impl RequestBody for NewLetterHook {
    const EXPECTED: &'static str = "send JSON with name";
}

/// Lists letters that an agent sent, newest first. A reply is shown to a caller with the right `messages`.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/letters", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The sender, by name or id"),
        ("before" = Option<String>, Query, description = "The last letter of the previous page"),
    ),
    responses((status = 200, description = "A page of letters", body = Vec<LetterView>), Problems)
)]
async fn list(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Read>,
    UrlQuery(SentLetterPage { before }): UrlQuery<SentLetterPage>,
) -> Result<Json<Vec<LetterView>>, Problem> {
    Ok(Json(api.office.letters(&access, Party { scope, agent }, before).await?))
}

/// Sends a letter in the name of an agent. A sleeping recipient is woken. The same `dispatch_id` again is the same letter.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/letters", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The sender, by name or id"),
    ),
    request_body = NewLetterRequest,
    responses((status = 200, description = "The letter", body = LetterView), Problems)
)]
async fn send(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Work>,
    JsonBody(request): JsonBody<NewLetterRequest>,
) -> Result<Json<LetterView>, Problem> {
    Ok(Json(api.office.send_letter(&access, Party { scope, agent }, request).await?))
}

/// Shows a letter that an agent sent, and its result. The reply is shown to a caller with the right `messages`.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/letters/{id}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The sender, by name or id"),
        ("id" = String, Path, description = "The letter's id"),
    ),
    responses((status = 200, description = "The letter", body = LetterView), Problems)
)]
async fn show(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Read>,
    Path(LetterPath { id }): Path<LetterPath>,
) -> Result<Json<LetterView>, Problem> {
    let no_id = |_| {
        problem::NOT_FOUND
            .with_detail(format!("`{id}` is not the id of a letter; the list shows the ids"))
    };
    let letter = id.parse().map_err(no_id)?;
    Ok(Json(api.office.letter(&access, Party { scope, agent }, letter).await?))
}

/// Creates a webhook by which other programs send letters as an agent.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/letter-hooks", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The sender, by name or id"),
    ),
    request_body = NewLetterHook,
    responses((status = 201, description = "Its secret, shown once", body = CreatedLetterHook), Problems)
)]
async fn create_hook(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    JsonBody(NewLetterHook { name }): JsonBody<NewLetterHook>,
) -> Result<(StatusCode, Json<CreatedLetterHook>), Problem> {
    let created = api.office.create_letter_hook(Party { scope, agent }, &name).await?;
    Ok((StatusCode::CREATED, Json(created)))
}

/// Lists the webhooks by which other programs send letters.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/letter-hooks", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "All webhooks", body = Vec<LetterHookView>), Problems)
)]
async fn hooks(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<Vec<LetterHookView>>, Problem> {
    Ok(Json(api.office.letter_hooks(scope, usize::MAX).await?))
}

/// Removes a webhook: its secret sends no letters any more.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/letter-hooks/{name}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The webhook's name"),
    ),
    responses((status = 204, description = "It is removed"), Problems)
)]
async fn remove_hook(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(LetterHookPath { name }): Path<LetterHookPath>,
) -> Result<StatusCode, Problem> {
    api.office.remove_letter_hook(scope, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the grants that a tenant gave for letters with other tenants.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/letter-grants", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "All grants", body = Vec<LetterGrantView>), Problems)
)]
async fn grants(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<Vec<LetterGrantView>>, Problem> {
    Ok(Json(api.office.letter_grants(scope, usize::MAX).await?))
}

/// Grants letters between an agent and an agent of another tenant. Both tenants must grant it. The caller needs a role in
/// both.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{agent}/letter-grants/{peer_tenant}/{peer_agent}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("peer_tenant" = String, Path, description = "The other tenant, by name or id"),
        ("peer_agent" = String, Path, description = "The other tenant's agent, by name or id"),
    ),
    responses((status = 200, description = "The grant", body = LetterGrantChange), Problems)
)]
async fn grant(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Manage>,
    Path(path): Path<LetterGrantPath>,
) -> Result<Json<LetterGrantChange>, Problem> {
    Ok(Json(api.office.grant_letters(&access, Party { scope, agent }, &path.peer()).await?))
}

/// Withdraws a grant for letters.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/agents/{agent}/letter-grants/{peer_tenant}/{peer_agent}", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("peer_tenant" = String, Path, description = "The other tenant, by name or id"),
        ("peer_agent" = String, Path, description = "The other tenant's agent, by name or id"),
    ),
    responses((status = 200, description = "The grant is withdrawn", body = LetterGrantChange), Problems)
)]
async fn withdraw(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Manage>,
    Path(path): Path<LetterGrantPath>,
) -> Result<Json<LetterGrantChange>, Problem> {
    Ok(Json(api.office.withdraw_letters(&access, Party { scope, agent }, &path.peer()).await?))
}
