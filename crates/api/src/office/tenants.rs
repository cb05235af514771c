//! `/v1/tenants/{tenant}/quotas`, `…/rotate-key`, `…/erase`: a tenant as a whole. `/v1/admin/history`: the history of
//! the database.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use nightdesk_office::{BegunHistory, ErasedTenant, QuotaValues, RotatedTenantKey};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{DeskAccess, JsonBody, Operate, Read, RequestBody, TenantAccess};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(show_quotas, set_quotas))
        .routes(routes!(rotate_tenant_key))
        .routes(routes!(erase_tenant))
        .routes(routes!(begin_history))
}

/// Quotas to set, by their names.
#[derive(Deserialize, ToSchema)]
pub(super) struct QuotaRequest(BTreeMap<String, u32>);

impl RequestBody for QuotaRequest {
    const EXPECTED: &'static str =
        "send JSON with a number for each quota to set, such as agents or pending-entries";
}

/// The confirmation of an erasure.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ErasureRequest {
    /// The tenant's name or id.
    confirm: String,
}

impl RequestBody for ErasureRequest {
    const EXPECTED: &'static str = "send JSON with confirm, the tenant's name or id";
}

/// The reason for a new history.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryRequest {
    /// The reason, for the audit log.
    reason: String,
}

impl RequestBody for HistoryRequest {
    const EXPECTED: &'static str = "send JSON with reason";
}

/// Returns the quotas of a tenant.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/quotas", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The quotas", body = BTreeMap<String, i64>), Problems)
)]
async fn show_quotas(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<QuotaValues>, Problem> {
    Ok(Json(api.office.quotas(scope).await?))
}

/// Sets quotas of a tenant; the others stay. A change applies at once.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/quotas", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = QuotaRequest,
    responses((status = 200, description = "The quotas", body = BTreeMap<String, i64>), Problems)
)]
async fn set_quotas(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Operate>,
    JsonBody(QuotaRequest(values)): JsonBody<QuotaRequest>,
) -> Result<Json<QuotaValues>, Problem> {
    Ok(Json(api.office.set_quotas(scope, &values).await?))
}

/// Gives a tenant a new data key, and seals its secrets with it.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/rotate-key", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The key is replaced", body = RotatedTenantKey), Problems)
)]
async fn rotate_tenant_key(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Operate>,
) -> Result<Json<RotatedTenantKey>, Problem> {
    Ok(Json(api.office.rotate_tenant_key(scope).await?))
}

/// Erases a tenant permanently: its keys, its bots, its gateways, and all messages. It cannot be undone.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/erase", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = ErasureRequest,
    responses((status = 200, description = "It is erased", body = ErasedTenant), Problems)
)]
async fn erase_tenant(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Operate>,
    JsonBody(ErasureRequest { confirm }): JsonBody<ErasureRequest>,
) -> Result<Json<ErasedTenant>, Problem> {
    Ok(Json(api.office.erase_tenant(scope, &confirm).await?))
}

/// Begins a new history, after an older copy of the database was put back. All lines begin again, and acknowledgements
/// from before do not count.
#[utoipa::path(
    post, path = "/v1/admin/history", tag = "office", security(("user" = [])),
    request_body = HistoryRequest,
    responses((status = 201, description = "The history", body = BegunHistory), Problems)
)]
async fn begin_history(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
    JsonBody(HistoryRequest { reason }): JsonBody<HistoryRequest>,
) -> Result<(StatusCode, Json<BegunHistory>), Problem> {
    Ok((StatusCode::CREATED, Json(api.office.begin_history(&access, &reason).await?)))
}
