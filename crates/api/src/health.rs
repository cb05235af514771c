//! `GET /healthz`: whether the process answers. `GET /readyz`: whether to give it work.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nightdesk_desk::Desk;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<Arc<Desk>> {
    OpenApiRouter::new().routes(routes!(healthy)).routes(routes!(ready))
}

/// Whether the process answers.
#[utoipa::path(get, path = "/healthz", tag = "desk", responses(
    (status = 200, description = "It does", body = String),
))]
async fn healthy() -> &'static str {
    "ok\n"
}

/// Whether to give this node work.
#[derive(Serialize, ToSchema)]
struct Readiness {
    ready: bool,
    /// What stands in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Whether to give this node work.
#[utoipa::path(get, path = "/readyz", tag = "desk", responses(
    (status = 200, description = "It is ready", body = Readiness),
    (status = 503, description = "It is not, and why", body = Readiness),
))]
async fn ready(State(desk): State<Arc<Desk>>) -> Response {
    match desk.readiness.get() {
        Ok(()) => Json(Readiness { ready: true, why: None }).into_response(),
        Err(why) => {
            let readiness = Readiness { ready: false, why: Some(why.to_string()) };
            (StatusCode::SERVICE_UNAVAILABLE, Json(readiness)).into_response()
        }
    }
}
