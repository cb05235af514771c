//! `/v1/tenants/{tenant}/events/…`, `/v1/admin/events/prediction`: the outcome of events. No response has the text of a
//! message.

use axum::Json;
use axum::extract::{Path, State};
use nightdesk_office::HypotheticalEvent;
use serde::Deserialize;
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{DeskAccess, QueryParameters, Read, TenantAccess, UrlQuery};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(explanation))
        .routes(routes!(predict))
        .routes(routes!(predict_for_all))
}

impl QueryParameters for HypotheticalEvent {
    const EXPECTED: &'static str = "name bot, author and chat, and if needed scope, program and addressed, which are true or false";
}

/// The event of a path.
#[derive(Deserialize)]
pub(super) struct EventPath {
    event: String,
}

/// Explains the outcome of an event: each step with its time, or each refusal with its reason.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/events/{event}/explanation", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("event" = String, Path, description = "An entry's id, or the platform's key of an event that was refused"),
    ),
    responses((status = 200, description = "The explanation", body = serde_json::Value), Problems)
)]
async fn explanation(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    Path(EventPath { event }): Path<EventPath>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(api.office.explanation(scope, &event).await?))
}

/// Predicts the agents of a tenant that an event would reach.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/events/prediction", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id"), HypotheticalEvent),
    responses((status = 200, description = "The decision", body = serde_json::Value), Problems)
)]
async fn predict(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(event): UrlQuery<HypotheticalEvent>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(api.office.predict_event(Some(scope), &event).await?))
}

/// Predicts the agents of all tenants that an event would reach.
#[utoipa::path(
    get, path = "/v1/admin/events/prediction", tag = "office", security(("user" = [])),
    params(HypotheticalEvent),
    responses((status = 200, description = "The decision", body = serde_json::Value), Problems)
)]
async fn predict_for_all(
    State(api): State<ApiState>,
    _: DeskAccess<Read>,
    UrlQuery(event): UrlQuery<HypotheticalEvent>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(api.office.predict_event(None, &event).await?))
}
