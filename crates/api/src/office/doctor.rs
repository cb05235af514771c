//! `/v1/admin/doctor`: the examination of the desk.

use axum::Json;
use axum::extract::State;
use nightdesk_office::{DoctorMode, DoctorReport};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::{DeskAccess, Operate};
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(examine_desk, repair_desk))
}

/// Examines the desk, and changes nothing: the node that answers, its servers, and the bots and agents of all tenants.
#[utoipa::path(
    get, path = "/v1/admin/doctor", tag = "office", security(("user" = [])),
    responses((status = 200, description = "The findings", body = DoctorReport), Problems)
)]
async fn examine_desk(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
) -> Result<Json<DoctorReport>, Problem> {
    Ok(Json(api.office.examine(&access, DoctorMode::Examine).await?))
}

/// Examines the desk, and repairs what can be repaired without a risk: modes of key files, partitions, webhooks of bots.
#[utoipa::path(
    post, path = "/v1/admin/doctor", tag = "office", security(("user" = [])),
    responses((status = 200, description = "The findings", body = DoctorReport), Problems)
)]
async fn repair_desk(
    State(api): State<ApiState>,
    DeskAccess { access, .. }: DeskAccess<Operate>,
) -> Result<Json<DoctorReport>, Problem> {
    Ok(Json(api.office.examine(&access, DoctorMode::Repair).await?))
}
