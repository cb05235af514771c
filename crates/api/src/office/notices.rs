//! `/v1/tenants/{tenant}/notices`: notices to the owners of agents and bots.

use axum::Json;
use axum::extract::State;
use nightdesk_office::NoticeView;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{Read, TenantAccess};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Lists the recent notices to a tenant, newest first.
#[utoipa::path(
    get, path = "/v1/tenants/{tenant}/notices", tag = "office", security(("user" = [])),
    params(("tenant" = String, Path, description = "The tenant, by name or id")),
    responses((status = 200, description = "The notices", body = Vec<NoticeView>), Problems)
)]
async fn list(
    State(api): State<ApiState>,
    TenantAccess { scope, .. }: TenantAccess<Read>,
) -> Result<Json<Vec<NoticeView>>, Problem> {
    Ok(Json(api.office.notices(scope).await?))
}
