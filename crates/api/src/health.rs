//! `GET /healthz`: whether the process answers. `GET /readyz`: whether to give it work.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use nightdesk_desk::Desk;
use serde_json::json;

pub(crate) fn route(desk: Arc<Desk>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(desk)
}

async fn ready(State(desk): State<Arc<Desk>>) -> Response {
    match desk.readiness.get() {
        Ok(()) => Json(json!({ "ready": true })).into_response(),
        Err(why) => {
            let why = json!({ "ready": false, "why": why.to_string() });
            (StatusCode::SERVICE_UNAVAILABLE, Json(why)).into_response()
        }
    }
}
