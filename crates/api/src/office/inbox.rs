//! `/v1/tenants/{tenant}/agents/{agent}/inbox`: waiting and parked entries.

use axum::Json;
use axum::extract::{Path, State};
use nightdesk_office::{InboxView, ParkedEntry, ResubmittedEntry, TextAccess};
use nightdesk_types::Seq;
use nightdesk_users::{Place, Right};
use serde::Deserialize;
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{AgentAccess, QueryParameters, Read, UrlQuery, Work};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show))
        .routes(routes!(resubmit))
        .routes(routes!(park))
}

/// A page of an inbox.
#[derive(Deserialize)]
pub(super) struct SeqPage {
    #[serde(default)]
    after: i64,
}

impl QueryParameters for SeqPage {
    const EXPECTED: &'static str = "after is the number of the last entry of the previous page";
}

/// The part of an entry that a caller wants.
#[derive(Deserialize)]
pub(super) struct EntryQuery {
    #[serde(default)]
    body: bool,
}

impl QueryParameters for EntryQuery {
    const EXPECTED: &'static str = "body is true or false";
}

/// The path of an entry.
#[derive(Deserialize)]
pub(super) struct EntryPath {
    seq: i64,
}

/// Lists waiting and parked entries of an agent, without their content.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/inbox", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("after" = Option<i64>, Query, description = "The last number of the previous page"),
    ),
    responses((status = 200, description = "A page of entries", body = InboxView), Problems)
)]
async fn list(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Read>,
    UrlQuery(page): UrlQuery<SeqPage>,
) -> Result<Json<InboxView>, Problem> {
    Ok(Json(api.office.inbox(scope, agent, Seq::new(page.after)).await?))
}

/// Shows an entry: its source and its state; with `body=true` also its content, which needs the right `messages`.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents/{agent}/inbox/{seq}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("seq" = i64, Path, description = "The entry's number"),
        ("body" = Option<bool>, Query, description = "Also the content"),
    ),
    responses((status = 200, description = "The entry", body = serde_json::Value), Problems)
)]
async fn show(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, access, .. }: AgentAccess<Read>,
    Path(EntryPath { seq }): Path<EntryPath>,
    UrlQuery(query): UrlQuery<EntryQuery>,
) -> Result<Json<Value>, Problem> {
    let mut content = TextAccess::Hidden;
    if query.body {
        let place = Place::Tenant(scope.tenant());
        access.check(place, Right::ReadMessages).map_err(nightdesk_office::OfficeError::from)?;
        content = TextAccess::Shown;
    }
    Ok(Json(api.office.entry(scope, agent, Seq::new(seq), content).await?))
}

/// Puts a parked entry into its inbox again, under a new number.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/inbox/{seq}/resubmit", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("seq" = i64, Path, description = "The entry's number"),
    ),
    responses((status = 200, description = "Its new number", body = ResubmittedEntry), Problems)
)]
async fn resubmit(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Work>,
    Path(EntryPath { seq }): Path<EntryPath>,
) -> Result<Json<ResubmittedEntry>, Problem> {
    Ok(Json(api.office.resubmit_entry(scope, agent, Seq::new(seq)).await?))
}

/// Parks a waiting entry, so that the entries behind it get through.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/agents/{agent}/inbox/{seq}/park", tag = "office",
    security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("agent" = String, Path, description = "The agent, by name or id"),
        ("seq" = i64, Path, description = "The entry's number"),
    ),
    responses((status = 200, description = "It is parked", body = ParkedEntry), Problems)
)]
async fn park(
    State(api): State<ApiState>,
    AgentAccess { scope, agent, .. }: AgentAccess<Work>,
    Path(EntryPath { seq }): Path<EntryPath>,
) -> Result<Json<ParkedEntry>, Problem> {
    Ok(Json(api.office.park_entry(scope, agent, Seq::new(seq)).await?))
}
