//! The built-in issuer, as others see it: `POST /oauth/token`, its keys, and where they are.
//!
//! The stock client asks for a refresh under `/api`, whatever it is told.

mod discovery;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::gateways::Gateways;

pub(crate) fn route(gateways: Arc<Gateways>) -> Router {
    Router::new()
        .route("/oauth/token", post(token::token))
        .route("/api/oauth/token", post(token::token))
        .route("/oauth/jwks.json", get(discovery::jwks))
        .route("/.well-known/openid-configuration", get(discovery::metadata))
        .route("/.well-known/oauth-authorization-server", get(discovery::metadata))
        .with_state(gateways)
}
