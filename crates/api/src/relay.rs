//! What gateways post to the desk besides their line.

mod enroll;
mod provision;
mod relevance;

use std::sync::Arc;

use axum::Router;
use axum::routing::post;

use crate::gateways::Gateways;

pub(crate) fn route(gateways: Arc<Gateways>) -> Router {
    Router::new()
        .route("/relay/enroll", post(enroll::enroll))
        .route("/relay/policy", post(relevance::policy))
        .route("/relay/provision", post(provision::provision))
        .with_state(gateways)
}
