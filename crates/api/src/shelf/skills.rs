//! What an agent asks about skills.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use nightdesk_desk::What;
use nightdesk_desk::shelf::SkillWrite;
use nightdesk_shelf::{CatalogueFilter, SkillStatus};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{asked, asker, no_skill};
use crate::agent_cron::too_often;
use crate::gateways::{Gateways, refuse};
use crate::problem::Refusals;

const WANTS_FILTER: &str = "filters are audience (agent, all, headless), status (Draft, Approved, Disabled), trigger_kind (cron, \
    event), domain_tags with commas between them, name_prefix, author, and if_none_match";
const WANTS_SKILL: &str = "send JSON with name and source, and overwrite if it may replace another";
const WANTS_STATUS: &str = "send JSON with status: Draft, Approved or Disabled";

/// A skill to keep.
#[derive(Deserialize, ToSchema)]
#[schema(as = SkillWrite)]
pub(super) struct Write {
    /// Its name: a letter or a digit, then those, `_`, `-` and `.`.
    name: String,
    /// Its bytes, headers included.
    source: String,
    /// Whether it may take the place of one that is there.
    #[serde(default)]
    overwrite: bool,
}

/// A status to have.
#[derive(Deserialize, ToSchema)]
#[schema(as = SkillStatusChange)]
pub(super) struct Status {
    /// `Draft`, `Approved` or `Disabled`.
    #[schema(value_type = String)]
    status: SkillStatus,
}

/// The skills of the agent's tenant, grouped by what the agent does with them.
#[utoipa::path(
    get, path = "/v1/skills", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(
        ("audience" = Option<String>, Query, description = "`agent` (unless said), `all` or `headless`"),
        ("status" = Option<String>, Query, description = "`Approved` unless said"),
        ("trigger_kind" = Option<String>, Query, description = "`cron` or `event`"),
        ("domain_tags" = Option<String>, Query, description = "Any of these, with commas between them"),
        ("name_prefix" = Option<String>, Query, description = "How their names begin"),
        ("author" = Option<String>, Query, description = "Whose they are: an agent's id"),
        ("if_none_match" = Option<String>, Query, description = "`catalog_version` of the last answer with the same filters"),
    ),
    responses(
        (status = 200, description = "`receives`, `skills`, `headless` and `catalog_version`, or `not_modified`",
         body = serde_json::Value),
        Refusals,
    )
)]
pub(super) async fn list(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let asker = match asker(&gateways, request.headers(), from).await {
        Ok(asker) => asker,
        Err(refused) => return refused,
    };
    if let Some(refused) = too_often(&gateways, What::Catalogue, asker) {
        return refused;
    }
    let mut said = said(request.uri());
    let seen = said.remove("if_none_match").and_then(|seen| seen.as_str().map(ToOwned::to_owned));
    let Ok(filter) = serde_json::from_value::<CatalogueFilter>(Value::Object(said)) else {
        return refuse(StatusCode::BAD_REQUEST, WANTS_FILTER);
    };
    match gateways.desk.shelf.skill_list(asker, &filter, seen.as_deref()).await {
        Ok(listed) => Json(listed).into_response(),
        Err(error) => no_skill(&error),
    }
}

/// What a query says, as JSON has it.
fn said(uri: &Uri) -> Map<String, Value> {
    let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let read = pairs.map(|(key, value)| match &*key {
        "domain_tags" => (key.into_owned(), value.split(',').collect::<Vec<_>>().into()),
        _ => (key.into_owned(), value.into_owned().into()),
    });
    read.collect()
}

/// Keeps a skill as the agent's. Who repeats it changes nothing.
#[utoipa::path(
    post, path = "/v1/skills", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    request_body = Write,
    responses(
        (status = 200, description = "`name`, `version`, `content_hash`, `status` and `changed_at`", body = serde_json::Value),
        Refusals,
    )
)]
pub(super) async fn write(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let (asker, write) = match asked::<Write>(&gateways, from, request, WANTS_SKILL).await {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    let Write { name, source, overwrite } = write;
    let write = SkillWrite { name, source, overwrite };
    match gateways.desk.shelf.skill_write(asker, &write).await {
        Ok(written) => Json(written).into_response(),
        Err(error) => no_skill(&error),
    }
}

/// A skill, as it is or as it was.
#[utoipa::path(
    get, path = "/v1/skills/{name}", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(
        ("name" = String, Path, description = "The skill"),
        ("version" = Option<String>, Query, description = "As it was"),
    ),
    responses(
        (status = 200, description = "`name`, `version`, `status` and `source`", body = serde_json::Value),
        Refusals,
    )
)]
pub(super) async fn read(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let asker = match asker(&gateways, request.headers(), from).await {
        Ok(asker) => asker,
        Err(refused) => return refused,
    };
    let said = said(request.uri());
    let version = said.get("version").and_then(Value::as_str);
    match gateways.desk.shelf.skill_read(asker, &name, version).await {
        Ok(skill) => Json(skill).into_response(),
        Err(error) => no_skill(&error),
    }
}

/// What became of a skill, the newest first.
#[utoipa::path(
    get, path = "/v1/skills/{name}/versions", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(("name" = String, Path, description = "The skill")),
    responses((status = 200, description = "Each change", body = Vec<serde_json::Value>), Refusals)
)]
pub(super) async fn versions(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let asker = match asker(&gateways, request.headers(), from).await {
        Ok(asker) => asker,
        Err(refused) => return refused,
    };
    match gateways.desk.shelf.skill_versions(asker, &name).await {
        Ok(versions) => Json(versions).into_response(),
        Err(error) => no_skill(&error),
    }
}

/// Changes a skill's status. Who repeats it changes nothing.
#[utoipa::path(
    post, path = "/v1/skills/{name}/status", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(("name" = String, Path, description = "The skill")),
    request_body = Status,
    responses(
        (status = 200, description = "The change, with `previous_status`", body = serde_json::Value),
        Refusals,
    )
)]
pub(super) async fn status(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let (asker, Status { status }) = match asked(&gateways, from, request, WANTS_STATUS).await {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    match gateways.desk.shelf.skill_status(asker, &name, status).await {
        Ok(changed) => Json(changed).into_response(),
        Err(error) => no_skill(&error),
    }
}
