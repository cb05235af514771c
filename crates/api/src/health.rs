//! `GET /healthz`: the process is alive. `GET /readyz`: the node may be given work. `GET /healthz/{question}`: the
//! desk recognises itself.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nightdesk_desk::Desk;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;

pub(crate) fn routes() -> OpenApiRouter<Arc<Desk>> {
    OpenApiRouter::new().routes(routes!(healthy)).routes(routes!(ready))
}

pub(crate) fn question_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(answer_question))
}

/// Reports that the process is alive.
#[utoipa::path(get, path = "/healthz", tag = "desk", responses(
    (status = 200, description = "The process is alive", body = String),
))]
async fn healthy() -> &'static str {
    "ok\n"
}

/// The readiness of this node.
#[derive(Serialize, ToSchema)]
struct Readiness {
    ready: bool,
    /// The reason, if the node is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Reports if this node may be given work.
#[utoipa::path(get, path = "/readyz", tag = "desk", responses(
    (status = 200, description = "The node is ready", body = Readiness),
    (status = 503, description = "The node is not ready, with the reason", body = Readiness),
))]
async fn ready(State(desk): State<Arc<Desk>>) -> Response {
    match desk.stops.readiness.get() {
        Ok(()) => Json(Readiness { ready: true, why: None }).into_response(),
        Err(why) => {
            let readiness = Readiness { ready: false, why: Some(why.to_string()) };
            (StatusCode::SERVICE_UNAVAILABLE, Json(readiness)).into_response()
        }
    }
}

/// Answers a question that a node of this desk just sent to the desk's public URL. Any other question is not found.
#[utoipa::path(
    get, path = "/healthz/{question}", tag = "desk",
    params(("question" = String, Path, description = "The question")),
    responses((status = 200, description = "The answer", body = String), Problems)
)]
async fn answer_question(
    State(api): State<ApiState>,
    Path(question): Path<String>,
) -> Result<String, Problem> {
    let answer = api.office.answer_question(&question, api.now());
    answer.ok_or_else(|| problem::NOT_FOUND.with_detail("this desk just asked no such question"))
}
