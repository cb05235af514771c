//! Requests of gateways besides their line.

mod enroll;
mod media;
mod provision;
mod relevance;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::ApiState;

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(enroll::enroll))
        .routes(routes!(media::put))
        .routes(routes!(media::get))
        .routes(routes!(relevance::policy))
        .routes(routes!(provision::provision))
}
