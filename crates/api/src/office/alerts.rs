//! `/v1/tenants/{tenant}/alerts`, `…/alert-ways`: alerts of a tenant and the ways on which they go out.
//! `/v1/admin/alerts`, `…/alert-ways`: those of the desk.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{
    AlertView, AlertWayRequest, AlertWayView, CreatedAlertWay, RemovedAlertWay, TestedAlertWay,
    WayOwner,
};
use nightdesk_types::AlertWayId;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{DeskAccess, JsonBody, Manage, Operate, Read, RequestBody, TenantAccess};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list_alerts))
        .routes(routes!(list_desk_alerts))
        .routes(routes!(list_ways, add_way))
        .routes(routes!(remove_way))
        .routes(routes!(test_way))
        .routes(routes!(list_desk_ways, add_desk_way))
        .routes(routes!(remove_desk_way))
        .routes(routes!(test_desk_way))
}

impl RequestBody for AlertWayRequest {
    const EXPECTED: &'static str = "send JSON with webhook, a URL; mail, an address; or chat, with agent, bot and \
                                    chat_id";
}

/// The way of a path.
#[derive(Deserialize)]
struct WayPath {
    id: String,
}

impl WayPath {
    fn read(&self) -> Result<AlertWayId, Problem> {
        let unknown = "there is no such way; the list of ways has their ids";
        self.id.parse().map_err(|_| problem::NOT_FOUND.with_detail(unknown))
    }
}

/// Lists the newest alert of each kind of a tenant, open ones first.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/alerts", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The alerts", body = Vec<AlertView>), Problems)
)]
async fn list_alerts(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<Vec<AlertView>>, Problem> {
    Ok(Json(api.office.alerts(scope).await?))
}

/// Lists the open alerts of the desk and of all tenants, the newest first.
#[utoipa::path(
    get, path = "/v1/admin/alerts", tag = "office", security(("user" = [])),
    responses((status = 200, description = "The alerts", body = Vec<AlertView>), Problems)
)]
async fn list_desk_alerts(
    State(api): State<ApiState>,
    _: DeskAccess<Read>,
) -> Result<Json<Vec<AlertView>>, Problem> {
    Ok(Json(api.office.desk_alerts().await?))
}

/// Lists the ways on which a tenant's alerts go out. A URL may contain a secret, so it needs the right `manage`.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/alert-ways", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The ways", body = Vec<AlertWayView>), Problems)
)]
async fn list_ways(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
) -> Result<Json<Vec<AlertWayView>>, Problem> {
    Ok(Json(api.office.alert_ways(WayOwner::Tenant(scope)).await?))
}

/// Adds a way: a URL, a mail address, or a chat. It gets the open alerts at once.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/alert-ways", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = AlertWayRequest,
    responses(
        (status = 201, description = "The way. The secret of a URL is shown once", body = CreatedAlertWay),
        Problems,
    )
)]
async fn add_way(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    JsonBody(request): JsonBody<AlertWayRequest>,
) -> Result<(StatusCode, Json<CreatedAlertWay>), Problem> {
    let created = api.office.add_alert_way(WayOwner::Tenant(scope), request).await?;
    Ok((StatusCode::CREATED, Json(created)))
}

/// Removes a way.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/alert-ways/{id}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("id" = String, Path, description = "The way's id"),
    ),
    responses((status = 200, description = "It is removed", body = RemovedAlertWay), Problems)
)]
async fn remove_way(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(way): Path<WayPath>,
) -> Result<Json<RemovedAlertWay>, Problem> {
    Ok(Json(api.office.remove_alert_way(WayOwner::Tenant(scope), way.read()?).await?))
}

/// Sends a test message on a way, at most one within a minute. The response comes after the delivery, at most half a
/// minute later.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/alert-ways/{id}/test", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("id" = String, Path, description = "The way's id"),
    ),
    responses((status = 200, description = "The message arrived", body = TestedAlertWay), Problems)
)]
async fn test_way(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(way): Path<WayPath>,
) -> Result<Json<TestedAlertWay>, Problem> {
    let owner = WayOwner::Tenant(scope);
    Ok(Json(api.office.test_alert_way(owner, way.read()?, api.now()).await?))
}

/// Lists the ways of the operator.
#[utoipa::path(
    get, path = "/v1/admin/alert-ways", tag = "office", security(("user" = [])),
    responses((status = 200, description = "The ways", body = Vec<AlertWayView>), Problems)
)]
async fn list_desk_ways(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
) -> Result<Json<Vec<AlertWayView>>, Problem> {
    Ok(Json(api.office.alert_ways(WayOwner::Operator(&access)).await?))
}

/// Adds a way of the operator. It gets the alerts of the desk, and those of every tenant with `all_tenants`.
#[utoipa::path(
    post, path = "/v1/admin/alert-ways", tag = "office", security(("user" = [])),
    request_body = AlertWayRequest,
    responses(
        (status = 201, description = "The way. The secret of a URL is shown once", body = CreatedAlertWay),
        Problems,
    )
)]
async fn add_desk_way(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
    JsonBody(request): JsonBody<AlertWayRequest>,
) -> Result<(StatusCode, Json<CreatedAlertWay>), Problem> {
    let created = api.office.add_alert_way(WayOwner::Operator(&access), request).await?;
    Ok((StatusCode::CREATED, Json(created)))
}

/// Removes a way of the operator.
#[utoipa::path(
    delete, path = "/v1/admin/alert-ways/{id}", tag = "office", security(("user" = [])),
    params(("id" = String, Path, description = "The way's id")),
    responses((status = 200, description = "It is removed", body = RemovedAlertWay), Problems)
)]
async fn remove_desk_way(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
    Path(way): Path<WayPath>,
) -> Result<Json<RemovedAlertWay>, Problem> {
    Ok(Json(api.office.remove_alert_way(WayOwner::Operator(&access), way.read()?).await?))
}

/// Sends a test message on a way of the operator, at most one within a minute.
#[utoipa::path(
    post, path = "/v1/admin/alert-ways/{id}/test", tag = "office", security(("user" = [])),
    params(("id" = String, Path, description = "The way's id")),
    responses((status = 200, description = "The message arrived", body = TestedAlertWay), Problems)
)]
async fn test_desk_way(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
    Path(way): Path<WayPath>,
) -> Result<Json<TestedAlertWay>, Problem> {
    let owner = WayOwner::Operator(&access);
    Ok(Json(api.office.test_alert_way(owner, way.read()?, api.now()).await?))
}
