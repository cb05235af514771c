//! Where the issuer's doors and keys are.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::gateways::{Gateways, try_later};
use crate::problem::Refusals;

/// How long others may keep the keys: one that is taken out of use should go soon.
const KEPT: &str = "public, max-age=300";

/// The public halves of the issuer's keys.
#[utoipa::path(get, path = "/oauth/jwks.json", tag = "issuer", responses(
    (status = 200, description = "A JSON Web Key Set", body = serde_json::Value),
    Refusals,
))]
pub(super) async fn jwks(State(gateways): State<Arc<Gateways>>) -> Response {
    match gateways.issuer().jwks(gateways.now()).await {
        Ok(keys) => ([(header::CACHE_CONTROL, KEPT)], Json(keys)).into_response(),
        Err(error) => try_later(&error, "the signing keys could not be read"),
    }
}

/// Where the issuer's doors are. The same stands at `/.well-known/oauth-authorization-server`.
#[utoipa::path(get, path = "/.well-known/openid-configuration", tag = "issuer", responses(
    (status = 200, description = "As far as the standard goes for machines", body = serde_json::Value),
))]
pub(super) async fn metadata(State(gateways): State<Arc<Gateways>>) -> Response {
    let url = gateways.issuer().url();
    Json(json!({
        "issuer": url,
        "token_endpoint": format!("{url}/oauth/token"),
        "jwks_uri": format!("{url}/oauth/jwks.json"),
        "grant_types_supported": ["client_credentials", "refresh_token"],
        "token_endpoint_auth_methods_supported": [
            "client_secret_post", "client_secret_basic", "none",
        ],
        // Nobody logs in here: there is no page to send a person to.
        "response_types_supported": [],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256", "RS256"],
    }))
    .into_response()
}
