//! `/v1/tenants`, `/v1/admin/tenants/{name}`, `/v1/tenants/{tenant}/agents`: tenants and agents.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use nightdesk_office::{CreatedAgent, CreatedTenant, IdentityView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::NamePage;
use crate::extract::{DeskAccess, Manage, Operate, Read, SignedIn, TenantAccess, UrlQuery};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(tenants))
        .routes(routes!(create_tenant))
        .routes(routes!(agents))
        .routes(routes!(create_agent))
}

/// Returns 201 for a new object and 200 for one that existed: the same call again changes nothing.
pub(super) const fn created(is_new: bool) -> StatusCode {
    if is_new { StatusCode::CREATED } else { StatusCode::OK }
}

/// Lists the tenants in which the user has a role, by name.
#[utoipa::path(
    get, path = "/v1/tenants", tag = "office", security(("user" = [])),
    params(("after" = Option<String>, Query, description = "The last name of the previous page")),
    responses((status = 200, description = "A page of tenants", body = Vec<IdentityView>), Problems)
)]
async fn tenants(
    State(api): State<ApiState>,
    SignedIn(access): SignedIn,
    UrlQuery(page): UrlQuery<NamePage>,
) -> Result<Json<Vec<IdentityView>>, Problem> {
    Ok(Json(api.office.tenants(&access, &page.after).await?))
}

/// Creates a tenant. The same call again returns the same tenant.
#[utoipa::path(
    put, path = "/v1/admin/tenants/{name}", tag = "office", security(("user" = [])),
    params(("name" = String, Path, description = "The tenant's name")),
    responses(
        (status = 201, description = "It was created", body = CreatedTenant),
        (status = 200, description = "It existed", body = CreatedTenant),
        Problems,
    )
)]
async fn create_tenant(
    State(api): State<ApiState>,
    user: DeskAccess<Operate>,
    Path(name): Path<String>,
) -> Result<(StatusCode, Json<CreatedTenant>), Problem> {
    let (tenant, is_new) = api.office.create_tenant(user.access.actor, &name).await?;
    Ok((created(is_new), Json(tenant)))
}

/// Lists a tenant's agents, by name.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/agents", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("after" = Option<String>, Query, description = "The last name of the previous page"),
    ),
    responses((status = 200, description = "A page of agents", body = Vec<IdentityView>), Problems)
)]
async fn agents(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
    UrlQuery(page): UrlQuery<NamePage>,
) -> Result<Json<Vec<IdentityView>>, Problem> {
    Ok(Json(api.office.agents(scope, &page.after).await?))
}

/// Creates an agent. The same call again returns the same agent.
#[utoipa::path(
    put, path = "/v1/tenants/{tenant}/agents/{name}", tag = "office", security(("user" = [])),
    params(
        ("tenant" = String, Path, description = "The tenant, by name or id"),
        ("name" = String, Path, description = "The agent's name"),
    ),
    responses(
        (status = 201, description = "It was created", body = CreatedAgent),
        (status = 200, description = "It existed", body = CreatedAgent),
        Problems,
    )
)]
async fn create_agent(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Manage>,
    Path((_, name)): Path<(String, String)>,
) -> Result<(StatusCode, Json<CreatedAgent>), Problem> {
    let (agent, is_new) = api.office.create_agent(scope, &name).await?;
    Ok((created(is_new), Json(agent)))
}
