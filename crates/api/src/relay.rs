//! What gateways post to the desk besides their line.

mod enroll;
mod media;
mod provision;
mod relevance;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateways::Gateways;

pub(crate) fn routes() -> OpenApiRouter<Arc<Gateways>> {
    OpenApiRouter::new()
        .routes(routes!(enroll::enroll))
        .routes(routes!(media::put))
        .routes(routes!(media::get))
        .routes(routes!(relevance::policy))
        .routes(routes!(provision::provision))
}
