//! What an agent asks about data.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::response::{IntoResponse, Response};
use nightdesk_shelf::{DataWrite, QueryFilters};
use serde_json::json;

use super::{asked, asker, no_data};
use crate::gateways::Gateways;
use crate::problem::{self, Refusals};

const WANTS_ENTRY: &str =
    "send JSON with content, and tags, recipients, expires_at (seconds, or null) or metadata";
const WANTS_QUERY: &str = "send JSON with query, and limit or filters";

/// Keeps an entry of data. The same entry, written again by the same agent, is the one that was written.
#[utoipa::path(
    post, path = "/v1/data", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    request_body(
        content = serde_json::Value,
        description = "`content`; `tags`, `recipients`, `expires_at` in seconds or null, `metadata`",
    ),
    responses((status = 200, description = "`id` and `created_at`", body = serde_json::Value), Refusals)
)]
pub(super) async fn write(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (asker, write) = match asked::<DataWrite>(&gateways, from, request, WANTS_ENTRY).await {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    match gateways.desk.shelf.data_write(asker, &write).await {
        Ok(record) => Json(record).into_response(),
        Err(error) => no_data(&error),
    }
}

/// Looks for data of the agent's tenant. A filter that is not kept is refused.
#[utoipa::path(
    post, path = "/v1/data/query", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    request_body(
        content = serde_json::Value,
        description = "`query`: all of its words must be there, and without any the newest are meant; `limit`; and the filters \
            `agent_id`, `domain_tags`, `knowledge_type`, `payload_type`, `pinned`, `thread_status`, `vault`",
    ),
    responses((status = 200, description = "`items`, the best first", body = serde_json::Value), Refusals)
)]
pub(super) async fn query(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let read = asked::<QueryFilters>(&gateways, from, request, WANTS_QUERY).await;
    let (asker, filters) = match read {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    match gateways.desk.shelf.data_query(asker, &filters).await {
        Ok(items) => Json(json!({ "items": items })).into_response(),
        Err(error) => no_data(&error),
    }
}

/// An entry of data of the agent's tenant.
#[utoipa::path(
    get, path = "/v1/data/{id}", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(("id" = String, Path, description = "The entry")),
    responses((status = 200, description = "The entry", body = serde_json::Value), Refusals)
)]
pub(super) async fn read(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let asker = match asker(&gateways, request.headers(), from).await {
        Ok(asker) => asker,
        Err(refused) => return refused,
    };
    match gateways.desk.shelf.data_read(asker, &id).await {
        Ok(Some(entry)) => Json(entry).into_response(),
        Ok(None) => problem::NOT_FOUND.said("there is no such entry, or its time is over"),
        Err(error) => no_data(&error),
    }
}
