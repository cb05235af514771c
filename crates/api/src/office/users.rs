//! `/v1/admin/users`, `/v1/tenants/{tenant}/users`: users and their roles. `…/glass`: requests to read messages.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{CreatedLink, GlassView, UserView, read_role};
use nightdesk_types::{BreakGlassId, UserId};
use nightdesk_users::UserSelection;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{
    DeskAccess, JsonBody, ManageUsers, Operate, QueryParameters, Read, RequestBody, SignedIn,
    TenantAccess, UrlQuery,
};
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(desk_users, create_desk_user))
        .routes(routes!(tenant_users, create_tenant_user))
        .routes(routes!(give_desk_role, take_desk_role))
        .routes(routes!(give_tenant_role, take_tenant_role))
        .routes(routes!(create_link))
        .routes(routes!(end_sessions))
        .merge(glass_routes())
}

fn glass_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(all_glass))
        .routes(routes!(approve_glass))
        .routes(routes!(tenant_glass, ask_glass))
        .routes(routes!(end_glass))
}

/// A page of users.
#[derive(Deserialize)]
pub(super) struct UserPage {
    after: Option<UserId>,
}

impl QueryParameters for UserPage {
    const EXPECTED: &'static str = "after is the id of the last user of the previous page";
}

/// A user to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUserRequest {
    /// The name.
    name: String,
    /// The email address by which a login provider finds the user.
    #[serde(default)]
    email: Option<String>,
    /// The role: `operator` or `auditor` of the desk; `admin`, `member` or `auditor` of a tenant.
    role: String,
}

impl RequestBody for NewUserRequest {
    const EXPECTED: &'static str = "send JSON with name and role, and if known email";
}

/// A request to read a tenant's messages.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GlassBody {
    /// The reason, which the tenant sees.
    reason: String,
    /// The minutes for which the messages are to be read, at most 480.
    minutes: u32,
}

impl RequestBody for GlassBody {
    const EXPECTED: &'static str = "send JSON with reason and minutes";
}

/// The user and the role of a path.
#[derive(Deserialize)]
pub(super) struct RolePath {
    user: String,
    role: String,
}

fn read_user(id: &str) -> Result<UserId, Problem> {
    id.parse().map_err(|_| problem::NOT_FOUND.with_detail("there is no such user"))
}

fn read_glass(id: &str) -> Result<BreakGlassId, Problem> {
    id.parse().map_err(|_| problem::NOT_FOUND.with_detail("there is no such request"))
}

/// Lists all users.
#[utoipa::path(
    get, path = "/v1/admin/users", tag = "users", security(("user" = [])),
    params(("after" = Option<String>, Query, description = "The last user of the previous page")),
    responses((status = 200, description = "A page of users", body = Vec<UserView>), Problems)
)]
async fn desk_users(
    State(api): State<ApiState>,
    _: DeskAccess<ManageUsers>,
    UrlQuery(UserPage { after }): UrlQuery<UserPage>,
) -> Result<Json<Vec<UserView>>, Problem> {
    Ok(Json(api.office.user_list(UserSelection::All, after).await?))
}

/// Creates a user with a role of the desk.
#[utoipa::path(
    post, path = "/v1/admin/users", tag = "users", security(("user" = [])),
    request_body = NewUserRequest,
    responses((status = 201, description = "The user", body = UserView), Problems)
)]
async fn create_desk_user(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<ManageUsers>,
    JsonBody(new): JsonBody<NewUserRequest>,
) -> Result<(StatusCode, Json<UserView>), Problem> {
    let role = read_role(&new.role, None)?;
    let user = api.office.create_user(&access, &new.name, new.email, role).await?;
    Ok((StatusCode::CREATED, Json(user)))
}

/// Lists the users of a tenant, with their roles in it.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/users", tag = "users", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("after" = Option<String>, Query, description = "The last user of the previous page"),
    ),
    responses((status = 200, description = "A page of users", body = Vec<UserView>), Problems)
)]
async fn tenant_users(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<ManageUsers>,
    UrlQuery(UserPage { after }): UrlQuery<UserPage>,
) -> Result<Json<Vec<UserView>>, Problem> {
    Ok(Json(api.office.user_list(UserSelection::OfTenant(scope.tenant()), after).await?))
}

/// Creates a user with a role in a tenant.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/users", tag = "users", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = NewUserRequest,
    responses((status = 201, description = "The user", body = UserView), Problems)
)]
async fn create_tenant_user(
    State(api): State<ApiState>,
    TenantAccess { scope, access, .. }: TenantAccess<ManageUsers>,
    JsonBody(new): JsonBody<NewUserRequest>,
) -> Result<(StatusCode, Json<UserView>), Problem> {
    let role = read_role(&new.role, Some(scope))?;
    let user = api.office.create_user(&access, &new.name, new.email, role).await?;
    Ok((StatusCode::CREATED, Json(user)))
}

/// Gives a user a role of the desk.
#[utoipa::path(
    put, path = "/v1/admin/users/{user}/roles/{role}", tag = "users", security(("user" = [])),
    params(
        ("user" = String, Path, description = "The user"),
        ("role" = String, Path, description = "`operator` or `auditor`"),
    ),
    responses((status = 200, description = "The user", body = UserView), Problems)
)]
async fn give_desk_role(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<ManageUsers>,
    Path(RolePath { user, role }): Path<RolePath>,
) -> Result<Json<UserView>, Problem> {
    let role = read_role(&role, None)?;
    Ok(Json(api.office.give_role(&access, read_user(&user)?, role).await?))
}

/// Takes a role of the desk from a user.
#[utoipa::path(
    delete, path = "/v1/admin/users/{user}/roles/{role}", tag = "users", security(("user" = [])),
    params(
        ("user" = String, Path, description = "The user"),
        ("role" = String, Path, description = "`operator` or `auditor`"),
    ),
    responses((status = 200, description = "The user", body = UserView), Problems)
)]
async fn take_desk_role(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<ManageUsers>,
    Path(RolePath { user, role }): Path<RolePath>,
) -> Result<Json<UserView>, Problem> {
    let role = read_role(&role, None)?;
    Ok(Json(api.office.take_role(&access, read_user(&user)?, role).await?))
}

/// Gives a user a role in a tenant.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/users/{user}/roles/{role}", tag = "users", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("user" = String, Path, description = "The user"),
        ("role" = String, Path, description = "`admin`, `member` or `auditor`"),
    ),
    responses((status = 200, description = "The user", body = UserView), Problems)
)]
async fn give_tenant_role(
    State(api): State<ApiState>,
    TenantAccess { scope, access, .. }: TenantAccess<ManageUsers>,
    Path(RolePath { user, role }): Path<RolePath>,
) -> Result<Json<UserView>, Problem> {
    let role = read_role(&role, Some(scope))?;
    Ok(Json(api.office.give_role(&access, read_user(&user)?, role).await?))
}

/// Takes a role in a tenant from a user.
#[utoipa::path(
    delete, path = "/v1/tenants/{tenant}/users/{user}/roles/{role}", tag = "users", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("user" = String, Path, description = "The user"),
        ("role" = String, Path, description = "`admin`, `member` or `auditor`"),
    ),
    responses((status = 200, description = "The user", body = UserView), Problems)
)]
async fn take_tenant_role(
    State(api): State<ApiState>,
    TenantAccess { scope, access, .. }: TenantAccess<ManageUsers>,
    Path(RolePath { user, role }): Path<RolePath>,
) -> Result<Json<UserView>, Problem> {
    let role = read_role(&role, Some(scope))?;
    Ok(Json(api.office.take_role(&access, read_user(&user)?, role).await?))
}

/// Makes a login link for a user. The caller must manage every place in which the user has a role.
#[utoipa::path(
    post, path = "/v1/users/{user}/link", tag = "users", security(("user" = [])),
    params(("user" = String, Path, description = "The user")),
    responses((status = 201, description = "The link, shown once", body = CreatedLink), Problems)
)]
async fn create_link(
    State(api): State<ApiState>,
    SignedIn(access): SignedIn,
    Path(user): Path<String>,
) -> Result<(StatusCode, Json<CreatedLink>), Problem> {
    let link = api.office.create_link(&access, read_user(&user)?).await?;
    Ok((StatusCode::CREATED, Json(link)))
}

/// Ends every session of a user: the caller, or one that the caller manages.
#[utoipa::path(
    post, path = "/v1/users/{user}/logout", tag = "users", security(("user" = [])),
    params(("user" = String, Path, description = "The user")),
    responses((status = 204, description = "Every session is over"), Problems)
)]
async fn end_sessions(
    State(api): State<ApiState>,
    SignedIn(access): SignedIn,
    Path(user): Path<String>,
) -> Result<StatusCode, Problem> {
    api.office.end_sessions(&access, read_user(&user)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the newest requests to read messages, of all tenants.
#[utoipa::path(
    get, path = "/v1/admin/glass", tag = "users", security(("user" = [])),
    responses((status = 200, description = "The requests", body = Vec<GlassView>), Problems)
)]
async fn all_glass(
    State(api): State<ApiState>,
    _: DeskAccess<Read>,
) -> Result<Json<Vec<GlassView>>, Problem> {
    Ok(Json(api.office.glass_requests(None).await?))
}

/// Approves the request of another operator.
#[utoipa::path(
    post, path = "/v1/admin/glass/{id}/approve", tag = "users", security(("user" = [])),
    params(("id" = String, Path, description = "The request's id")),
    responses((status = 200, description = "The request", body = GlassView), Problems)
)]
async fn approve_glass(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
    Path(id): Path<String>,
) -> Result<Json<GlassView>, Problem> {
    Ok(Json(api.office.approve_glass(&access, read_glass(&id)?).await?))
}

/// Lists the newest requests to read a tenant's messages.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/glass", tag = "users", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The requests", body = Vec<GlassView>), Problems)
)]
async fn tenant_glass(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<Vec<GlassView>>, Problem> {
    Ok(Json(api.office.glass_requests(Some(scope)).await?))
}

/// Requests to read a tenant's messages. A second operator must approve it, and the tenant is told.
#[utoipa::path(
    post, path = "/v1/tenants/{tenant}/glass", tag = "users", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    request_body = GlassBody,
    responses((status = 201, description = "The request", body = GlassView), Problems)
)]
async fn ask_glass(
    State(api): State<ApiState>,
    TenantAccess { scope, access, .. }: TenantAccess<Operate>,
    JsonBody(GlassBody { reason, minutes }): JsonBody<GlassBody>,
) -> Result<(StatusCode, Json<GlassView>), Problem> {
    let asked = api.office.ask_glass(&access, scope, &reason, minutes).await?;
    Ok((StatusCode::CREATED, Json(asked)))
}

/// Ends a request, or withdraws it.
#[utoipa::path(
    delete, path = "/v1/admin/glass/{id}", tag = "users", security(("user" = [])),
    params(("id" = String, Path, description = "The request's id")),
    responses((status = 204, description = "It is over"), Problems)
)]
async fn end_glass(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    api.office.end_glass(&access, read_glass(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
