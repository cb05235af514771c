//! `/v1/tenants/{tenant}/agents/{agent}/webhook`: the URL to which the desk posts an agent's entries.

use axum::Json;
use axum::extract::State;
use nightdesk_office::{WebhookCredentials, WebhookView};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{AgentAccess, JsonBody, Manage, RequestBody};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(show_webhook, set_webhook, remove_webhook))
}

/// A webhook to set.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WebhookRequest {
    /// The URL.
    url: String,
}

impl RequestBody for WebhookRequest {
    const EXPECTED: &'static str = "send JSON with url";
}

/// Returns the webhook of an agent. Its URL may contain a secret, so only a caller that may set it sees it.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/webhook", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "The webhook", body = WebhookView), Problems)
)]
async fn show_webhook(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
) -> Result<Json<WebhookView>, Problem> {
    Ok(Json(api.office.webhook(scope, agent).await?))
}

/// Sets the webhook of an agent. Each call makes a new secret; the previous one signs for another day.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/webhook", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    request_body = WebhookRequest,
    responses(
        (status = 200, description = "The webhook and its secret, shown once", body = WebhookCredentials),
        Problems,
    )
)]
async fn set_webhook(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    JsonBody(WebhookRequest { url }): JsonBody<WebhookRequest>,
) -> Result<Json<WebhookCredentials>, Problem> {
    Ok(Json(api.office.set_webhook(scope, agent, &url).await?))
}

/// Removes the webhook of an agent.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/agents/{agent}/webhook", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "It is removed", body = WebhookView), Problems)
)]
async fn remove_webhook(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
) -> Result<Json<WebhookView>, Problem> {
    Ok(Json(api.office.remove_webhook(scope, agent).await?))
}
