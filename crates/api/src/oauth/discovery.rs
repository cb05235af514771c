//! The issuer's keys and metadata.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde_json::{Value, json};

use crate::problem::{OrUnavailable, Problem, Problems};
use crate::state::ApiState;

/// Clients may cache the keys, but only for so long that a retired key disappears soon.
const CACHE: &str = "public, max-age=300";

/// The public halves of the issuer's keys.
#[utoipa::path(get, path = "/oauth/jwks.json", tag = "issuer", responses(
    (status = 200, description = "A JSON Web Key Set", body = serde_json::Value),
    Problems,
))]
pub(super) async fn jwks(State(api): State<ApiState>) -> Result<impl IntoResponse, Problem> {
    let keys = api.issuer().jwks(api.now()).await;
    let keys = keys.or_unavailable("the signing keys could not be read")?;
    Ok(([(header::CACHE_CONTROL, CACHE)], Json(keys)))
}

/// The issuer's metadata. `/.well-known/oauth-authorization-server` has the same.
#[utoipa::path(get, path = "/.well-known/openid-configuration", tag = "issuer", responses(
    (status = 200, description = "The part of the standard that concerns machines", body = serde_json::Value),
))]
pub(super) async fn metadata(State(api): State<ApiState>) -> Json<Value> {
    let url = api.issuer().url();
    Json(json!({
        "issuer": url,
        "token_endpoint": format!("{url}/oauth/token"),
        "jwks_uri": format!("{url}/oauth/jwks.json"),
        "grant_types_supported": ["client_credentials", "refresh_token"],
        "token_endpoint_auth_methods_supported": [
            "client_secret_post", "client_secret_basic", "none",
        ],
        // The issuer has no login page for people.
        "response_types_supported": [],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256", "RS256"],
    }))
}
