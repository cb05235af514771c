//! `/v1/tenants/{tenant}/usage`, `/v1/admin/usage`, `/v1/admin/nodes`: messages, wakes and the time awake, and the nodes.

use axum::Json;
use axum::extract::State;
use nightdesk_office::{NodeView, TenantUsageView, UsageView};
use nightdesk_types::TenantScope;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::NamePage;
use crate::extract::{DeskAccess, QueryParameters, Read, TenantAccess, UrlQuery};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(of_tenant))
        .routes(routes!(of_desk))
        .routes(routes!(by_tenant))
        .routes(routes!(nodes))
}

/// The periods of a list.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UsagePeriod {
    /// Each of the last 24 hours.
    Hour,
    /// Each of the last 30 days.
    #[default]
    Day,
}

/// The usage that a caller wants.
#[derive(Deserialize)]
pub(super) struct UsageQuery {
    #[serde(default)]
    by: UsagePeriod,
}

impl QueryParameters for UsageQuery {
    const EXPECTED: &'static str = "by is hour or day";
}

async fn usage(
    api: &ApiState,
    scope: Option<TenantScope>,
    by: UsagePeriod,
) -> Result<Json<Vec<UsageView>>, Problem> {
    Ok(Json(match by {
        UsagePeriod::Hour => api.office.usage_by_hour(scope).await?,
        UsagePeriod::Day => api.office.usage_by_day(scope).await?,
    }))
}

/// Lists a tenant's usage in each of the last 24 hours or on each of the last 30 days, oldest first.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/usage", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("by" = Option<String>, Query, description = "`hour` or `day`, the default"),
    ),
    responses((status = 200, description = "The usage", body = Vec<UsageView>), Problems)
)]
async fn of_tenant(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(UsageQuery { by }): UrlQuery<UsageQuery>,
) -> Result<Json<Vec<UsageView>>, Problem> {
    usage(&api, Some(scope), by).await
}

/// Lists the usage of all tenants together in each of the last 24 hours or on each of the last 30 days, oldest first.
#[utoipa::path(
    get, path = "/v1/admin/usage", tag = "office", security(("user" = [])),
    params(("by" = Option<String>, Query, description = "`hour` or `day`, the default")),
    responses((status = 200, description = "The usage", body = Vec<UsageView>), Problems)
)]
async fn of_desk(
    State(api): State<ApiState>,
    _: DeskAccess<Read>,
    UrlQuery(UsageQuery { by }): UrlQuery<UsageQuery>,
) -> Result<Json<Vec<UsageView>>, Problem> {
    usage(&api, None, by).await
}

/// Lists the usage of each tenant in the last 30 days, by name.
#[utoipa::path(
    get, path = "/v1/admin/usage/tenants", tag = "office", security(("user" = [])),
    params(("after" = Option<String>, Query, description = "The last tenant of the previous page")),
    responses((status = 200, description = "A page of tenants", body = Vec<TenantUsageView>), Problems)
)]
async fn by_tenant(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Read>,
    UrlQuery(page): UrlQuery<NamePage>,
) -> Result<Json<Vec<TenantUsageView>>, Problem> {
    Ok(Json(api.office.tenants_usage(&access, &page.after).await?))
}

/// Lists the nodes of the desk, with their leases and their open lines.
#[utoipa::path(
    get, path = "/v1/admin/nodes", tag = "office", security(("user" = [])),
    responses((status = 200, description = "The nodes", body = Vec<NodeView>), Problems)
)]
async fn nodes(
    State(api): State<ApiState>,
    _: DeskAccess<Read>,
) -> Result<Json<Vec<NodeView>>, Problem> {
    Ok(Json(api.office.nodes().await?))
}
