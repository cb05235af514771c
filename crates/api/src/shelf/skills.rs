//! Skills of a tenant: listed, written, read and approved.

use axum::Json;
use axum::extract::{Path, State};
use nightdesk_desk::LimitedAction;
use nightdesk_desk::shelf::{SkillQueryResult, SkillWrite, SkillWriteReceipt};
use nightdesk_shelf::{
    Audience, CatalogueFilter, CatalogueResponse, SkillFilter, SkillSource, SkillStatus,
    TriggerKind, VersionInfo,
};
use nightdesk_types::limits::SHELF_BODY_BYTES_MAX;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::extract::{JsonBody, QueryParameters, RequestBody, ShelfAgent, UrlQuery};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

/// A skill to store.
#[derive(Deserialize, ToSchema)]
#[schema(as = SkillWrite)]
pub(super) struct SkillBody {
    /// The name: a letter or a digit, then those, `_`, `-` and `.`.
    name: String,
    /// The bytes, headers included.
    source: String,
    /// True if the skill may replace one of the same name.
    #[serde(default)]
    overwrite: bool,
    /// The status, in place of the one in the bytes: `Draft`, `Approved` or `Disabled`.
    #[schema(value_type = Option<String>)]
    status: Option<SkillStatus>,
    /// Further metadata.
    #[schema(value_type = Option<serde_json::Value>)]
    metadata_bag: Option<Map<String, Value>>,
}

impl RequestBody for SkillBody {
    const EXPECTED: &'static str = "send JSON with name and source, overwrite: true to replace a skill of that name, and status or metadata_bag";
    const BYTES_MAX: usize = SHELF_BODY_BYTES_MAX;
}

/// A new status of a skill.
#[derive(Deserialize, ToSchema)]
#[schema(as = SkillStatusChange)]
pub(crate) struct StatusBody {
    /// `Draft`, `Approved` or `Disabled`.
    #[schema(value_type = String)]
    pub(crate) status: SkillStatus,
}

impl RequestBody for StatusBody {
    const EXPECTED: &'static str = "send JSON with status: Draft, Approved or Disabled";
    const BYTES_MAX: usize = SHELF_BODY_BYTES_MAX;
}

/// The skills that a client asks for.
#[derive(Deserialize)]
pub(super) struct CatalogueQuery {
    audience: Option<Audience>,
    status: Option<SkillStatus>,
    trigger_kind: Option<TriggerKind>,
    domain_tags: Option<String>,
    name_prefix: Option<String>,
    author: Option<String>,
    if_none_match: Option<String>,
}

impl QueryParameters for CatalogueQuery {
    const EXPECTED: &'static str = "filters are audience (agent, all, headless), status (Draft, Approved, Disabled), trigger_kind (cron, \
         event), domain_tags with commas between them, name_prefix, author, and if_none_match";
}

impl CatalogueQuery {
    fn filter(self) -> CatalogueFilter {
        let defaults = CatalogueFilter::default();
        let tags = self.domain_tags.map(|tags| tags.split(',').map(str::to_owned).collect());
        CatalogueFilter {
            audience: self.audience.unwrap_or(defaults.audience),
            status: self.status.unwrap_or(defaults.status),
            trigger_kind: self.trigger_kind,
            domain_tags: tags.unwrap_or_default(),
            name_prefix: self.name_prefix,
            author: self.author,
        }
    }
}

/// Lists the skills of the agent's tenant, grouped by their use for the agent.
#[utoipa::path(
    get, path = "/v1/skills", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(
        ("audience" = Option<String>, Query, description = "`agent` (the default), `all` or `headless`"),
        ("status" = Option<String>, Query, description = "`Approved` is the default"),
        ("trigger_kind" = Option<String>, Query, description = "`cron` or `event`"),
        ("domain_tags" = Option<String>, Query, description = "Any of these, with commas between them"),
        ("name_prefix" = Option<String>, Query, description = "The beginning of the names"),
        ("author" = Option<String>, Query, description = "The author: an agent's id"),
        ("if_none_match" = Option<String>, Query, description = "`catalog_version` of the last response with the same filters"),
    ),
    responses(
        (status = 200, description = "`receives`, `skills`, `headless` and `catalog_version`, or `not_modified`",
         body = serde_json::Value),
        Problems,
    )
)]
pub(super) async fn list(
    State(api): State<ApiState>,
    ShelfAgent(agent): ShelfAgent,
    query: Result<UrlQuery<CatalogueQuery>, Problem>,
) -> Result<Json<CatalogueResponse>, Problem> {
    api.count_call(LimitedAction::Catalogue, agent)?;
    let UrlQuery(mut query) = query?;
    let seen = query.if_none_match.take();
    let filter = query.filter();
    Ok(Json(api.desk.stops.shelf.skill_list(agent, &filter, seen.as_deref()).await?))
}

/// Stores a skill of the agent. A repeated call changes nothing.
#[utoipa::path(
    post, path = "/v1/skills", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    request_body = SkillBody,
    responses(
        (status = 200, description = "`name`, `version`, `content_hash`, `status` and `changed_at`", body = serde_json::Value),
        Problems,
    )
)]
pub(super) async fn write(
    State(api): State<ApiState>,
    ShelfAgent(agent): ShelfAgent,
    JsonBody(body): JsonBody<SkillBody>,
) -> Result<Json<SkillWriteReceipt>, Problem> {
    let SkillBody { name, source, overwrite, status, metadata_bag } = body;
    let write = SkillWrite { name, source, overwrite, status, metadata_bag };
    Ok(Json(api.desk.stops.shelf.skill_write(agent, &write).await?))
}

/// The version of a skill that a client asks for.
#[derive(Deserialize)]
pub(crate) struct VersionQuery {
    pub(crate) version: Option<String>,
}

impl QueryParameters for VersionQuery {
    const EXPECTED: &'static str = "version names one version of the skill";
}

/// Reads a skill, in its current or an earlier version.
#[utoipa::path(
    get, path = "/v1/skills/{name}", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(
        ("name" = String, Path, description = "The skill"),
        ("version" = Option<String>, Query, description = "An earlier version"),
    ),
    responses(
        (status = 200, description = "`name`, `version`, `content_hash`, `status`, `source` and `metadata`",
         body = serde_json::Value),
        Problems,
    )
)]
pub(super) async fn read(
    State(api): State<ApiState>,
    Path(name): Path<String>,
    ShelfAgent(agent): ShelfAgent,
    UrlQuery(VersionQuery { version }): UrlQuery<VersionQuery>,
) -> Result<Json<ReadSkill>, Problem> {
    let skill = api.desk.stops.shelf.skill_load(agent, &name, version.as_deref()).await?;
    Ok(Json(ReadSkill { status: skill.metadata.status, skill }))
}

/// A skill with its metadata.
#[derive(Serialize)]
pub(super) struct ReadSkill {
    #[serde(flatten)]
    skill: SkillSource,
    status: SkillStatus,
}

impl RequestBody for SkillFilter {
    const EXPECTED: &'static str =
        "send JSON with any of status, type, tag, author, since, name_pattern, limit and offset";
    const BYTES_MAX: usize = SHELF_BODY_BYTES_MAX;
}

/// Queries the metadata of the tenant's skills. Unknown filters are ignored. With the limit 0 it returns the token alone.
#[utoipa::path(
    post, path = "/v1/skill-query", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    request_body(
        content = serde_json::Value,
        description = "`status`, one or several; `type`; `tag`, one or several, all of which count; `author`; `since`, in \
            seconds; `name_pattern`, a regular expression; `limit`; `offset`",
    ),
    responses(
        (status = 200, description = "`skills`, by name, and `version`, which changes with every change of any skill",
         body = serde_json::Value),
        Problems,
    )
)]
pub(super) async fn query(
    State(api): State<ApiState>,
    ShelfAgent(agent): ShelfAgent,
    filter: Result<JsonBody<SkillFilter>, Problem>,
) -> Result<Json<SkillQueryResult>, Problem> {
    if !filter.as_ref().is_ok_and(|JsonBody(filter)| filter.limit == Some(0)) {
        api.count_call(LimitedAction::Catalogue, agent)?;
    }
    let JsonBody(filter) = filter?;
    Ok(Json(api.desk.stops.shelf.skill_query(agent, &filter).await?))
}

/// Lists the changes of a skill, newest first.
#[utoipa::path(
    get, path = "/v1/skills/{name}/versions", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(("name" = String, Path, description = "The skill")),
    responses((status = 200, description = "Each change", body = Vec<serde_json::Value>), Problems)
)]
pub(super) async fn versions(
    State(api): State<ApiState>,
    Path(name): Path<String>,
    ShelfAgent(agent): ShelfAgent,
) -> Result<Json<Vec<VersionInfo>>, Problem> {
    Ok(Json(api.desk.stops.shelf.skill_versions(agent, &name).await?))
}

/// Changes a skill's status. A repeated call changes nothing.
#[utoipa::path(
    post, path = "/v1/skills/{name}/status", tag = "shelf", security(("access_token" = []), ("agent" = [])),
    params(("name" = String, Path, description = "The skill")),
    request_body = StatusBody,
    responses(
        (status = 200, description = "The change, with `previous_status`", body = serde_json::Value),
        Problems,
    )
)]
pub(super) async fn status(
    State(api): State<ApiState>,
    Path(name): Path<String>,
    ShelfAgent(agent): ShelfAgent,
    JsonBody(StatusBody { status }): JsonBody<StatusBody>,
) -> Result<Json<VersionInfo>, Problem> {
    Ok(Json(api.desk.stops.shelf.skill_status(agent, &name, status).await?))
}
