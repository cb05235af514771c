//! The built-in issuer, as others see it: `POST /oauth/token`, its keys, and where they are.
//!
//! The stock client asks for a refresh under `/api`, whatever it is told.

mod discovery;
mod token;

pub(crate) use token::give;

use std::sync::Arc;

use axum::routing::{get, post};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateways::Gateways;

pub(crate) fn routes() -> OpenApiRouter<Arc<Gateways>> {
    OpenApiRouter::new()
        .routes(routes!(token::token))
        .route("/api/oauth/token", post(token::token))
        .routes(routes!(discovery::jwks))
        .routes(routes!(discovery::metadata))
        .route("/.well-known/oauth-authorization-server", get(discovery::metadata))
}
