//! `/v1/tenants/{tenant}/skills` and `…/data`: skills and data that the agents of a tenant share.

mod data;

use axum::Json;
use axum::extract::{Path, State};
use nightdesk_office::{
    RemovedSkill, SkillAuthority, SkillCheck, SkillRemoval, SkillRow, SkillSignature,
};
use nightdesk_shelf::{OneOrMany, SkillFilter, SkillPatch, SkillSource, SkillStatus, VersionInfo};
use nightdesk_types::limits::SHELF_BODY_BYTES_MAX;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{
    JsonBody, Manage, QueryParameters, Read, RequestBody, TenantAccess, UrlQuery,
};
use crate::problem::{Problem, Problems};
use crate::shelf::{StatusBody, VersionQuery};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(read, write, remove))
        .routes(routes!(history))
        .routes(routes!(set_status))
        .routes(routes!(check, approve))
        .routes(routes!(authority, set_key, remove_key))
        .merge(data::routes())
}

/// A page of skills.
#[derive(Deserialize)]
pub(super) struct SkillPage {
    #[serde(default)]
    after: String,
    status: Option<SkillStatus>,
    author: Option<String>,
}

impl QueryParameters for SkillPage {
    const EXPECTED: &'static str = "after is the last name of the previous page; filters are status (Draft, Approved, Disabled) and author";
}

/// The path of a skill.
#[derive(Deserialize)]
pub(super) struct SkillPath {
    name: String,
}

/// A skill to store.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillText {
    /// The bytes, headers included.
    source: String,
    /// The status, in place of the one in the bytes: `Draft`, `Approved` or `Disabled`.
    #[schema(value_type = Option<String>)]
    status: Option<SkillStatus>,
    /// Further metadata.
    #[schema(value_type = Option<serde_json::Value>)]
    metadata_bag: Option<Map<String, Value>>,
}

impl RequestBody for SkillText {
    const EXPECTED: &'static str = "send JSON with source, and if needed status or metadata_bag";
    const BYTES_MAX: usize = SHELF_BODY_BYTES_MAX;
}

impl RequestBody for SkillSignature {
    const EXPECTED: &'static str =
        "send JSON with version and signature, as `nightdesk skill approve` does";
}

/// The key that approves skills.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillKeyBody {
    /// The public key as PEM, which `nightdesk skill key` writes.
    public_key: String,
}

impl RequestBody for SkillKeyBody {
    const EXPECTED: &'static str = "send JSON with public_key";
}

impl QueryParameters for SkillRemoval {
    const EXPECTED: &'static str = "confirm is the skill's name, and force is true or false";
}

/// Lists the skills of a tenant, by name.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/skills", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("after" = Option<String>, Query, description = "The last name of the previous page"),
        ("status" = Option<String>, Query, description = "`Draft`, `Approved` or `Disabled`"),
        ("author" = Option<String>, Query, description = "The author: an agent's id"),
    ),
    responses((status = 200, description = "A page of skills", body = Vec<SkillRow>), Problems)
)]
async fn list(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(SkillPage { after, status, author }): UrlQuery<SkillPage>,
) -> Result<Json<Vec<SkillRow>>, Problem> {
    let status = status.map(OneOrMany::One);
    let filter = SkillFilter { status, author, ..SkillFilter::default() };
    Ok(Json(api.office.skills(scope).await?.list(&filter, &after).await?))
}

/// Reads a skill, in its current or an earlier version.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/skills/{name}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The skill"),
        ("version" = Option<String>, Query, description = "An earlier version"),
    ),
    responses(
        (status = 200, description = "`name`, `version`, `content_hash`, `source` and `metadata`",
         body = serde_json::Value),
        Problems,
    )
)]
async fn read(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    Path(SkillPath { name }): Path<SkillPath>,
    UrlQuery(VersionQuery { version }): UrlQuery<VersionQuery>,
) -> Result<Json<SkillSource>, Problem> {
    Ok(Json(api.office.skills(scope).await?.load(&name, version.as_deref()).await?))
}

/// Stores a skill. An existing one retains its author. The same call again changes nothing.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/skills/{name}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The skill"),
    ),
    request_body = SkillText,
    responses((status = 200, description = "The change", body = serde_json::Value), Problems)
)]
async fn write(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(SkillPath { name }): Path<SkillPath>,
    JsonBody(SkillText { source, status, metadata_bag }): JsonBody<SkillText>,
) -> Result<Json<VersionInfo>, Problem> {
    let patch = SkillPatch { status, metadata_bag, ..SkillPatch::default() };
    Ok(Json(api.office.skills(scope).await?.write(&name, &source, &patch).await?))
}

/// Removes a skill permanently, with all its versions.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/skills/{name}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The skill"),
        ("confirm" = String, Query, description = "The skill's name again"),
        ("force" = Option<bool>, Query, description = "Also if other skills mention it"),
    ),
    responses((status = 200, description = "It is removed", body = RemovedSkill), Problems)
)]
async fn remove(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(SkillPath { name }): Path<SkillPath>,
    UrlQuery(removal): UrlQuery<SkillRemoval>,
) -> Result<Json<RemovedSkill>, Problem> {
    Ok(Json(api.office.skills(scope).await?.remove(&name, &removal).await?))
}

/// Lists the changes of a skill, newest first.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/skills/{name}/versions", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The skill"),
    ),
    responses((status = 200, description = "Each change", body = Vec<serde_json::Value>), Problems)
)]
async fn history(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    Path(SkillPath { name }): Path<SkillPath>,
) -> Result<Json<Vec<VersionInfo>>, Problem> {
    Ok(Json(api.office.skills(scope).await?.history(&name).await?))
}

/// Changes a skill's status. The same call again changes nothing.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/skills/{name}/status", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The skill"),
    ),
    request_body = StatusBody,
    responses((status = 200, description = "The change, with `previous_status`", body = serde_json::Value), Problems)
)]
async fn set_status(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(SkillPath { name }): Path<SkillPath>,
    JsonBody(StatusBody { status }): JsonBody<StatusBody>,
) -> Result<Json<VersionInfo>, Problem> {
    Ok(Json(api.office.skills(scope).await?.set_status(&name, status).await?))
}

/// Tells whether a skill may be run, and why not.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/skills/{name}/approval", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The skill"),
    ),
    responses((status = 200, description = "The result", body = SkillCheck), Problems)
)]
async fn check(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    Path(SkillPath { name }): Path<SkillPath>,
) -> Result<Json<SkillCheck>, Problem> {
    Ok(Json(api.office.skills(scope).await?.check(&name).await?))
}

/// Approves one version of a skill by a signature. The private key stays with its owner.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/skills/{name}/approval", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The skill"),
    ),
    request_body = SkillSignature,
    responses((status = 200, description = "The change, with `previous_status`", body = serde_json::Value), Problems)
)]
async fn approve(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path(SkillPath { name }): Path<SkillPath>,
    JsonBody(signed): JsonBody<SkillSignature>,
) -> Result<Json<VersionInfo>, Problem> {
    Ok(Json(api.office.skills(scope).await?.approve(&name, &signed).await?))
}

/// Shows the key that approves a tenant's skills.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/skill-key", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The key, if there is one", body = SkillAuthority), Problems)
)]
async fn authority(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<SkillAuthority>, Problem> {
    Ok(Json(api.office.skill_authority(scope).await?))
}

/// Requires a key's signature to approve a tenant's skills.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/skill-key", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = SkillKeyBody,
    responses((status = 200, description = "The key", body = SkillAuthority), Problems)
)]
async fn set_key(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    JsonBody(SkillKeyBody { public_key }): JsonBody<SkillKeyBody>,
) -> Result<Json<SkillAuthority>, Problem> {
    Ok(Json(api.office.set_skill_key(scope, &public_key).await?))
}

/// Lets authors approve their skills: no key is needed any more.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/skill-key", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "Authors approve", body = SkillAuthority), Problems)
)]
async fn remove_key(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
) -> Result<Json<SkillAuthority>, Problem> {
    Ok(Json(api.office.remove_skill_key(scope).await?))
}
