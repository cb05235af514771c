//! `/api/agent-cron/…`: an agent arms jobs, and the desk calls it when they are due.
//!
//! Fields that clients compare byte by byte are returned as they were sent.

mod arming;
mod relay;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::ApiState;

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(arming::provision))
        .routes(routes!(arming::cancel))
        .routes(routes!(arming::list))
        .routes(routes!(arming::done))
        .routes(routes!(relay::relay))
}
