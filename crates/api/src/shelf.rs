//! `/v1/skills` and `/v1/data`: what the agents of a tenant share.
//!
//! Who asks is known as for jobs; the tenant is the stored record's, and whose a skill or an entry is follows from it. Nothing
//! is removed here: that is an operator's to do.

mod skills;
mod data;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use nightdesk_desk::What;
use nightdesk_desk::shelf::Asker;
use nightdesk_shelf::{DataStoreError, SkillStoreError};
use nightdesk_types::StoreError;
use nightdesk_types::limits::SHELF_BODY_BYTES_MAX;
use serde::de::DeserializeOwned;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::agent_cron::{agent_of, too_often};
use crate::gateways::{Gateways, read_json_up_to, try_later};
use crate::problem;

pub(crate) fn routes() -> OpenApiRouter<Arc<Gateways>> {
    OpenApiRouter::new()
        .routes(routes!(skills::list, skills::write))
        .routes(routes!(skills::read))
        .routes(routes!(skills::versions))
        .routes(routes!(skills::status))
        .routes(routes!(data::write))
        .routes(routes!(data::query))
        .routes(routes!(data::read))
}

/// Who asks, if it is not too often.
pub(crate) async fn asker(
    gateways: &Gateways,
    headers: &HeaderMap,
    from: SocketAddr,
) -> Result<Asker, Response> {
    let asker = agent_of(gateways, headers, from).await?;
    too_often(gateways, What::Shelf, asker).map_or(Ok(asker), Err)
}

/// Who asks, and for what; `wants` says what the body should have been.
async fn asked<T: DeserializeOwned>(
    gateways: &Gateways,
    from: SocketAddr,
    request: Request,
    wants: &str,
) -> Result<(Asker, T), Response> {
    let (head, body) = request.into_parts();
    let asker = asker(gateways, &head.headers, from).await?;
    // A skill is longer than what gateways else have to say.
    Ok((asker, read_json_up_to(SHELF_BODY_BYTES_MAX, body, wants).await?))
}

/// Why nothing came of what was asked about a skill.
fn no_skill(error: &SkillStoreError) -> Response {
    match error {
        SkillStoreError::SkillNotFound { .. } | SkillStoreError::VersionNotFound { .. } => {
            problem::NOT_FOUND.said(&format!("{error}; `GET /v1/skills` lists them"))
        }
        SkillStoreError::StorageConflict { .. } | SkillStoreError::LintFailure { .. } => {
            problem::SKILL_CONFLICT.said(&error.to_string())
        }
        SkillStoreError::ApprovalRejected { .. } => problem::NOT_APPROVED.said(&format!(
            "{error}; have whoever has the key sign it with `nightdesk skill approve`"
        )),
        SkillStoreError::Query { .. } => problem::BAD_REQUEST.said(&error.to_string()),
        SkillStoreError::Timeout { .. } => try_later(error, "skills could not be had in time"),
        SkillStoreError::Store(error) => failed(error, "skills could not be had or kept"),
    }
}

/// Why nothing came of what was asked about data.
fn no_data(error: &DataStoreError) -> Response {
    match error {
        DataStoreError::UnsupportedFilter { .. } => problem::UNSUPPORTED_FILTER.said(&format!(
            "{error}; leave them out, or say permissive_filters: true if they need not be kept"
        )),
        DataStoreError::Query { .. } => problem::BAD_REQUEST.said(&error.to_string()),
        DataStoreError::Timeout { .. } => try_later(error, "data could not be had in time"),
        DataStoreError::Store(error) => failed(error, "data could not be had or kept"),
    }
}

fn failed(error: &StoreError, what: &str) -> Response {
    match error.over_quota() {
        Some(over) => problem::OVER_QUOTA.said(&format!(
            "have an operator remove what is not needed, or raise {}",
            over.quota.slug()
        )),
        None => try_later(error, what),
    }
}
