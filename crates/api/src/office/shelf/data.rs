//! `/v1/tenants/{tenant}/data`: data that the agents of a tenant share.

use axum::Json;
use axum::extract::{Path, State};
use nightdesk_office::DataEntryView;
use nightdesk_shelf::{DataWrite, DataWriteRecord, PortableData, QueryFilters};
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{JsonBody, Manage, Read, TenantAccess};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(write)).routes(routes!(query)).routes(routes!(read))
}

/// The path of an entry of data.
#[derive(Deserialize)]
pub(super) struct DataPath {
    id: String,
}

/// Writes an entry of data. The same entry of the same user again is one entry.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/data", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body(
        content = serde_json::Value,
        description = "`content`; `tags`, `recipients`, `expires_at` in seconds or null, `metadata`",
    ),
    responses((status = 200, description = "`id` and `created_at`", body = serde_json::Value), Problems)
)]
async fn write(
    State(api): State<ApiState>,
    TenantAccess { scope, access, .. }: TenantAccess<Manage>,
    JsonBody(write): JsonBody<DataWrite>,
) -> Result<Json<DataWriteRecord>, Problem> {
    Ok(Json(api.office.write_data(&access, scope, &write).await?))
}

/// Searches data. An unsupported filter is refused.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/data/query", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body(
        content = serde_json::Value,
        description = "`query`: entries with all of its words, or the newest entries if it has none; `limit`; and the filters \
            `agent_id`, `domain_tags`, `knowledge_type`, `payload_type`, `pinned`, `thread_status`, `vault`",
    ),
    responses((status = 200, description = "The entries, the best first", body = Vec<DataEntryView>), Problems)
)]
async fn query(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    JsonBody(filters): JsonBody<QueryFilters>,
) -> Result<Json<Vec<DataEntryView>>, Problem> {
    Ok(Json(api.office.query_data(scope, &filters).await?))
}

/// Reads an entry of data.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/data/{id}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("id" = String, Path, description = "The entry"),
    ),
    responses((status = 200, description = "The entry", body = serde_json::Value), Problems)
)]
async fn read(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    Path(DataPath { id }): Path<DataPath>,
) -> Result<Json<PortableData>, Problem> {
    Ok(Json(api.office.read_data(scope, &id).await?))
}
