//! `/v1/tenants/{tenant}/stuck`, `…/parked/{reason}`: events that reached no agent, and actions on many parked entries.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{BulkOutcome, DropConfirmation, ParkedRowView, StuckView};
use nightdesk_types::Seq;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::overview::KeyPage;
use crate::extract::{AgentAccess, JsonBody, Read, RequestBody, TenantAccess, UrlQuery, Work};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(stuck))
        .routes(routes!(parked))
        .routes(routes!(resubmit_parked))
        .routes(routes!(drop_parked))
        .routes(routes!(drop_entry))
}

impl RequestBody for DropConfirmation {
    const EXPECTED: &'static str =
        "send JSON with confirm, the number of the entry or the reason of the entries";
}

/// The reason of a path.
#[derive(Deserialize)]
pub(super) struct ReasonPath {
    reason: String,
}

/// The entry of a path.
#[derive(Deserialize)]
pub(super) struct ParkedPath {
    seq: i64,
}

/// Groups the events of a tenant that reached no agent by reason, with one sample each and the next step.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/stuck", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The groups", body = StuckView), Problems)
)]
async fn stuck(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<StuckView>, Problem> {
    Ok(Json(api.office.stuck(scope).await?))
}

/// Lists the parked entries with a reason, oldest first, without their content.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/parked/{reason}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("reason" = String, Path, description = "The reason, such as `tries` or `full`"),
        ("after" = Option<String>, Query, description = "The key of the last row of the previous page"),
    ),
    responses((status = 200, description = "A page of entries", body = Vec<ParkedRowView>), Problems)
)]
async fn parked(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    Path(ReasonPath { reason }): Path<ReasonPath>,
    UrlQuery(KeyPage { after }): UrlQuery<KeyPage>,
) -> Result<Json<Vec<ParkedRowView>>, Problem> {
    Ok(Json(api.office.parked_entries(scope, &reason, after.as_deref()).await?))
}

/// Puts up to 100 parked entries with a reason into their inboxes again, the oldest first. Repeat it while `more` is true.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/parked/{reason}/resubmit", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("reason" = String, Path, description = "The reason, such as `tries` or `full`"),
    ),
    responses((status = 200, description = "The number of entries", body = BulkOutcome), Problems)
)]
async fn resubmit_parked(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Work>,
    Path(ReasonPath { reason }): Path<ReasonPath>,
) -> Result<Json<BulkOutcome>, Problem> {
    Ok(Json(api.office.resubmit_parked(scope, &reason).await?))
}

/// Removes up to 100 parked entries with a reason for good, the oldest first. The body confirms it with the reason.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/parked/{reason}/drop", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("reason" = String, Path, description = "The reason, such as `tries` or `full`"),
    ),
    request_body = DropConfirmation,
    responses((status = 200, description = "The number of entries", body = BulkOutcome), Problems)
)]
async fn drop_parked(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Work>,
    Path(ReasonPath { reason }): Path<ReasonPath>,
    JsonBody(confirmation): JsonBody<DropConfirmation>,
) -> Result<Json<BulkOutcome>, Problem> {
    Ok(Json(api.office.drop_parked(scope, &reason, &confirmation).await?))
}

/// Removes a parked entry for good. The body confirms it with the entry's number.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/inbox/{seq}/drop", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("seq" = i64, Path, description = "The entry's number"),
    ),
    request_body = DropConfirmation,
    responses((status = 204, description = "It is gone"), Problems)
)]
async fn drop_entry(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Work>,
    Path(ParkedPath { seq }): Path<ParkedPath>,
    JsonBody(confirmation): JsonBody<DropConfirmation>,
) -> Result<StatusCode, Problem> {
    api.office.drop_entry(scope, agent, Seq::new(seq), &confirmation).await?;
    Ok(StatusCode::NO_CONTENT)
}
