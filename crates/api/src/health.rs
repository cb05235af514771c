//! `GET /healthz`: whether the process answers.

use axum::Router;
use axum::routing::get;

pub(crate) fn route() -> Router {
    Router::new().route("/healthz", get(|| async { "ok\n" }))
}
