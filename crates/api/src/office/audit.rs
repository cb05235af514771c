//! `/v1/tenants/{tenant}/audit`, `/v1/admin/audit`: the audit log, and the verification of its chains.

use axum::Json;
use axum::extract::{Path, State};
use nightdesk_office::{AuditChainView, AuditCheckView, AuditRowView, OfficeError};
use nightdesk_types::TenantId;
use nightdesk_types::limits::AUDIT_ANCHORS_BYTES_MAX;
use nightdesk_users::Right;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{
    DeskAccess, JsonBody, QueryParameters, ReadAudit, RequestBody, TenantAccess, UrlQuery,
};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(tenant_rows))
        .routes(routes!(tenant_chain))
        .routes(routes!(verify_tenant))
        .routes(routes!(desk_rows))
        .routes(routes!(chains))
        .routes(routes!(verify_chain))
}

/// A page of the audit log.
#[derive(Deserialize)]
pub(super) struct AuditPage {
    #[serde(default)]
    after: i64,
}

impl QueryParameters for AuditPage {
    const EXPECTED: &'static str = "after is the number of the last row of the previous page";
}

/// A page of chains.
#[derive(Deserialize)]
pub(super) struct ChainPage {
    after: Option<TenantId>,
}

impl QueryParameters for ChainPage {
    const EXPECTED: &'static str = "after is the last tenant id of the previous page";
}

/// The anchors that a chain is compared with.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditCheckRequest {
    /// Lines of an anchor file.
    #[serde(default)]
    anchors: Vec<String>,
}

impl RequestBody for AuditCheckRequest {
    const EXPECTED: &'static str = "send JSON with anchors, a list of lines of an anchor file";
    const BYTES_MAX: usize = AUDIT_ANCHORS_BYTES_MAX;
}

/// Lists a tenant's actions, oldest first.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/audit", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("after" = Option<i64>, Query, description = "The last number of the previous page"),
    ),
    responses((status = 200, description = "A page of actions", body = Vec<AuditRowView>), Problems)
)]
async fn tenant_rows(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<ReadAudit>,
    UrlQuery(page): UrlQuery<AuditPage>,
) -> Result<Json<Vec<AuditRowView>>, Problem> {
    Ok(Json(api.office.audit_rows(Some(scope), page.after).await?))
}

/// Shows the head of a tenant's chain, with the line for an anchor file.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/audit/chain", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The head", body = AuditChainView), Problems)
)]
async fn tenant_chain(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<ReadAudit>,
) -> Result<Json<AuditChainView>, Problem> {
    Ok(Json(api.office.audit_chain(scope).await?))
}

/// Verifies that no row of a tenant's chain was changed, removed or cut off. The response names a fault, if there is
/// one.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/audit/verify", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = AuditCheckRequest,
    responses((status = 200, description = "The result", body = AuditCheckView), Problems)
)]
async fn verify_tenant(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<ReadAudit>,
    JsonBody(AuditCheckRequest { anchors }): JsonBody<AuditCheckRequest>,
) -> Result<Json<AuditCheckView>, Problem> {
    Ok(Json(api.office.verify_audit_chain(scope, &anchors).await?))
}

/// Lists the desk's own actions, oldest first.
#[utoipa::path(
    get, path = "/v1/admin/audit", tag = "office", security(("user" = [])),
    params(("after" = Option<i64>, Query, description = "The last number of the previous page")),
    responses((status = 200, description = "A page of actions", body = Vec<AuditRowView>), Problems)
)]
async fn desk_rows(
    State(api): State<ApiState>,
    _: DeskAccess<ReadAudit>,
    UrlQuery(page): UrlQuery<AuditPage>,
) -> Result<Json<Vec<AuditRowView>>, Problem> {
    Ok(Json(api.office.audit_rows(None, page.after).await?))
}

/// Lists the heads of all chains, with those of erased tenants and of the desk itself.
#[utoipa::path(
    get, path = "/v1/admin/audit/chains", tag = "office", security(("user" = [])),
    params(("after" = Option<String>, Query, description = "The last tenant id of the previous page")),
    responses((status = 200, description = "A page of heads", body = Vec<AuditChainView>), Problems)
)]
async fn chains(
    State(api): State<ApiState>,
    _: DeskAccess<ReadAudit>,
    UrlQuery(page): UrlQuery<ChainPage>,
) -> Result<Json<Vec<AuditChainView>>, Problem> {
    Ok(Json(api.office.audit_chains(page.after).await?))
}

/// Verifies a chain, also of an erased tenant or of the desk itself. The response names a fault, if there is one.
#[utoipa::path(
    post, path = "/v1/admin/audit/chains/{id}/verify", tag = "office", security(("user" = [])),
    params(("id" = String, Path, description = "The tenant's id")),
    request_body = AuditCheckRequest,
    responses((status = 200, description = "The result", body = AuditCheckView), Problems)
)]
async fn verify_chain(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<ReadAudit>,
    Path(id): Path<String>,
    JsonBody(AuditCheckRequest { anchors }): JsonBody<AuditCheckRequest>,
) -> Result<Json<AuditCheckView>, Problem> {
    let unknown = |_| problem::NOT_FOUND.with_detail("the path names no tenant's id");
    let tenant: TenantId = id.parse().map_err(unknown)?;
    let scope = access.tenant_scope(tenant, Right::ReadAudit).map_err(OfficeError::from)?;
    Ok(Json(api.office.verify_audit_chain(scope, &anchors).await?))
}
