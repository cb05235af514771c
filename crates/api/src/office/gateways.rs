//! `/v1/tenants/{tenant}/gateways`, `…/agents/{agent}/gateways`, `…/invitations`, `…/deprovision`: the clients with
//! which agents dial in.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{
    DeprovisionedAgent, FrontView, GatewaySecretView, GatewayTrust, GatewayTrustView, GatewayView,
    InvitationView, RevokedGateway,
};
use nightdesk_types::limits::{ENROLMENT_GOOD_FOR, ENROLMENT_OVERLAP};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::NamePage;
use crate::extract::{AgentAccess, JsonBody, Manage, Read, RequestBody, TenantAccess, UrlQuery};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list_gateways))
        .routes(routes!(list_fronts))
        .routes(routes!(create_gateway))
        .routes(routes!(invite_gateway))
        .routes(routes!(rotate_gateway))
        .routes(routes!(revoke_gateway))
        .routes(routes!(trust_gateways))
        .routes(routes!(deprovision_agent))
}

/// A gateway to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewGatewayRequest {
    /// The client's name: `GATEWAY_RELAY_ID`.
    name: String,
}

impl RequestBody for NewGatewayRequest {
    const EXPECTED: &'static str = "send JSON with name";
}

/// An invitation to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InvitationRequest {
    /// The only name that the gateway may take. Without it, any.
    #[serde(default)]
    name: Option<String>,
    /// The time that the invitation is valid, at most a day. Default: ten minutes.
    #[serde(default)]
    expires_in_secs: Option<u64>,
}

impl RequestBody for InvitationRequest {
    const EXPECTED: &'static str = "send JSON, and if needed with name and expires_in_secs";
}

/// A rotation of a gateway's secret.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RotationRequest {
    /// The time that earlier secrets stay valid, at most thirty days. Default: a day.
    #[serde(default)]
    overlap_secs: Option<u64>,
}

impl RequestBody for RotationRequest {
    const EXPECTED: &'static str = "send JSON, and if needed with overlap_secs";
}

impl RequestBody for GatewayTrust {
    const EXPECTED: &'static str = "send JSON with gateways_may_widen: true or false";
}

/// The gateway of a path.
#[derive(Deserialize)]
pub(super) struct GatewayPath {
    name: String,
}

/// Lists a tenant's gateways, by name.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/gateways", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("after" = Option<String>, Query, description = "The last name of the previous page"),
    ),
    responses((status = 200, description = "A page of gateways", body = Vec<GatewayView>), Problems)
)]
async fn list_gateways(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(page): UrlQuery<NamePage>,
) -> Result<Json<Vec<GatewayView>>, Problem> {
    Ok(Json(api.office.gateways(scope, &page.after).await?))
}

/// Lists the platforms that a gateway fronts. A gateway that does not provision itself has none.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/gateways/{name}/fronts", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The gateway's name"),
    ),
    responses((status = 200, description = "The platforms", body = Vec<FrontView>), Problems)
)]
async fn list_fronts(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    Path(GatewayPath { name }): Path<GatewayPath>,
) -> Result<Json<Vec<FrontView>>, Problem> {
    Ok(Json(api.office.gateway_fronts(scope, &name).await?))
}

/// Creates a gateway of an agent.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/gateways", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    request_body = NewGatewayRequest,
    responses((status = 201, description = "The gateway's secret, shown once", body = GatewaySecretView), Problems)
)]
async fn create_gateway(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    JsonBody(new): JsonBody<NewGatewayRequest>,
) -> Result<(StatusCode, Json<GatewaySecretView>), Problem> {
    let created = api.office.create_gateway(scope, agent, &new.name).await?;
    Ok((StatusCode::CREATED, Json(created)))
}

/// Creates an invitation, with which the person who runs the agent enrols a gateway.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/invitations", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    request_body = InvitationRequest,
    responses((status = 201, description = "The credentials, shown once", body = InvitationView), Problems)
)]
async fn invite_gateway(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    JsonBody(request): JsonBody<InvitationRequest>,
) -> Result<(StatusCode, Json<InvitationView>), Problem> {
    let lasts = request.expires_in_secs.map_or(ENROLMENT_GOOD_FOR, Duration::from_secs);
    let name = request.name.as_deref();
    let invitation = api.office.invite_gateway(scope, agent, name, lasts).await?;
    Ok((StatusCode::CREATED, Json(invitation)))
}

/// Gives a gateway a new secret.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/gateways/{name}/rotate", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The gateway's name"),
    ),
    request_body = RotationRequest,
    responses((status = 200, description = "The new secret, shown once", body = GatewaySecretView), Problems)
)]
async fn rotate_gateway(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(GatewayPath { name }): Path<GatewayPath>,
    JsonBody(request): JsonBody<RotationRequest>,
) -> Result<Json<GatewaySecretView>, Problem> {
    let overlap = request.overlap_secs.map_or(ENROLMENT_OVERLAP, Duration::from_secs);
    Ok(Json(api.office.rotate_gateway(scope, &name, overlap).await?))
}

/// Revokes a gateway. Its line is closed, and its client does not come back by itself. Its name stays taken.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/gateways/{name}/revoke", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The gateway's name"),
    ),
    responses((status = 200, description = "It is revoked", body = RevokedGateway), Problems)
)]
async fn revoke_gateway(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(GatewayPath { name }): Path<GatewayPath>,
) -> Result<Json<RevokedGateway>, Problem> {
    Ok(Json(api.office.revoke_gateway(scope, &name).await?))
}

/// Lets the secrets of a tenant's gateways widen the reach of their agents, or forbids it.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/gateway-trust", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = GatewayTrust,
    responses((status = 200, description = "It is set", body = GatewayTrustView), Problems)
)]
async fn trust_gateways(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    JsonBody(trust): JsonBody<GatewayTrust>,
) -> Result<Json<GatewayTrustView>, Problem> {
    Ok(Json(api.office.trust_gateways(scope, trust).await?))
}

/// Removes everything by which an agent can be reached or dial in.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/deprovision", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    responses((status = 200, description = "It is removed", body = DeprovisionedAgent), Problems)
)]
async fn deprovision_agent(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
) -> Result<Json<DeprovisionedAgent>, Problem> {
    Ok(Json(api.office.deprovision_agent(scope, agent).await?))
}
