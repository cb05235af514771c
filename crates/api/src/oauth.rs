//! The built-in issuer: `POST /oauth/token`, its keys, and its metadata.
//!
//! The stock client sends a refresh to a path under `/api`, whatever the metadata says.

mod discovery;
mod token;

use axum::routing::{get, post};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use token::AccessTokenResponse;

use crate::state::ApiState;

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(token::token))
        .route("/api/oauth/token", post(token::token))
        .routes(routes!(discovery::jwks))
        .routes(routes!(discovery::metadata))
        .route("/.well-known/oauth-authorization-server", get(discovery::metadata))
}
