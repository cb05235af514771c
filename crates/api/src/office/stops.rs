//! `/v1/tenants/{tenant}/agents/{agent}/stop`, `…/stop-permission`: running turns are stopped.

use axum::Json;
use axum::extract::State;
use nightdesk_desk::stopping::{StopOrder, StopOrigin};
use nightdesk_office::{StopPermission, StopPermissionView, TurnStopView};
use nightdesk_protocol::http::stops::StopSessionRequest;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{AgentAccess, JsonBody, Manage, RequestBody, Work};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;
use crate::stops::read_session;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(stop_turn)).routes(routes!(permit))
}

impl RequestBody for StopPermission {
    const EXPECTED: &'static str = "send JSON with stops_others: true or false";
}

/// Stops a running turn of an agent, on any node. The path names the agent, so the body does not.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/stop", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    request_body = StopSessionRequest,
    responses((status = 200, description = "The outcome", body = TurnStopView), Problems)
)]
async fn stop_turn(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Work>,
    JsonBody(request): JsonBody<StopSessionRequest>,
) -> Result<Json<TurnStopView>, Problem> {
    if request.agent.is_some() {
        return Err(problem::BAD_REQUEST.with_detail("the path names the agent; leave `agent` out"));
    }
    let session = read_session(&request)
        .ok_or_else(|| problem::BAD_REQUEST.with_detail(StopSessionRequest::EXPECTED))?;
    let drops_waiting = request.drop_waiting;
    let order = StopOrder { session, origin: StopOrigin::Route, drops_waiting };
    Ok(Json(api.office.stop_turn(scope, agent, &order).await?))
}

/// Lets an agent stop the turns of its tenant's other agents, or forbids it.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{agent}/stop-permission", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
    ),
    request_body = StopPermission,
    responses((status = 200, description = "The permission", body = StopPermissionView), Problems)
)]
async fn permit(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Manage>,
    JsonBody(permission): JsonBody<StopPermission>,
) -> Result<Json<StopPermissionView>, Problem> {
    Ok(Json(api.office.set_stop_permission(scope, agent, permission).await?))
}
