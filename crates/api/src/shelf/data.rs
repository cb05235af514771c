//! Data of a tenant: written, queried and read.

use axum::Json;
use axum::extract::{Path, State};
use nightdesk_shelf::{DataWrite, DataWriteRecord, PortableData, QueryFilters};
use nightdesk_types::limits::SHELF_BODY_BYTES_MAX;
use serde_json::{Value, json};

use crate::extract::{JsonBody, RequestBody, ShelfAgent};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

impl RequestBody for DataWrite {
    const EXPECTED: &'static str =
        "send JSON with content, and tags, recipients, expires_at (seconds, or null) or metadata";
    const BYTES_MAX: usize = SHELF_BODY_BYTES_MAX;
}

impl RequestBody for QueryFilters {
    const EXPECTED: &'static str = "send JSON with query, and limit or filters";
    const BYTES_MAX: usize = SHELF_BODY_BYTES_MAX;
}

/// Stores an entry of data. If the same agent writes the same entry again, the response names the first.
#[utoipa::path(
    post, path = "/v1/data", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    request_body(
        content = serde_json::Value,
        description = "`content`; `tags`, `recipients`, `expires_at` in seconds or null, `metadata`",
    ),
    responses((status = 200, description = "`id` and `created_at`", body = serde_json::Value), Problems)
)]
pub(super) async fn write(
    State(api): State<ApiState>,
    ShelfAgent(agent): ShelfAgent,
    JsonBody(write): JsonBody<DataWrite>,
) -> Result<Json<DataWriteRecord>, Problem> {
    Ok(Json(api.desk.stops.shelf.data_write(agent, &write).await?))
}

/// Queries the data of the agent's tenant. An unsupported filter is refused.
#[utoipa::path(
    post, path = "/v1/data/query", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    request_body(
        content = serde_json::Value,
        description = "`query`: entries with all of its words, or the newest entries if it has none; `limit`; and the filters \
            `agent_id`, `domain_tags`, `knowledge_type`, `payload_type`, `pinned`, `thread_status`, `vault`",
    ),
    responses((status = 200, description = "`items`, the best first", body = serde_json::Value), Problems)
)]
pub(super) async fn query(
    State(api): State<ApiState>,
    ShelfAgent(agent): ShelfAgent,
    JsonBody(filters): JsonBody<QueryFilters>,
) -> Result<Json<Value>, Problem> {
    let items = api.desk.stops.shelf.data_query(agent, &filters).await?;
    Ok(Json(json!({ "items": items })))
}

/// Reads an entry of data of the agent's tenant.
#[utoipa::path(
    get, path = "/v1/data/{id}", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(("id" = String, Path, description = "The entry")),
    responses((status = 200, description = "The entry", body = serde_json::Value), Problems)
)]
pub(super) async fn read(
    State(api): State<ApiState>,
    Path(id): Path<String>,
    ShelfAgent(agent): ShelfAgent,
) -> Result<Json<PortableData>, Problem> {
    let entry = api.desk.stops.shelf.data_read(agent, &id).await?;
    let not_found = || problem::NOT_FOUND.with_detail("there is no such entry, or it has expired");
    entry.map(Json).ok_or_else(not_found)
}
