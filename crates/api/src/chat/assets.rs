//! `GET /chat-assets/{name}`: the page's style, script and icon.

use axum::extract::Path;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_webchat::assets::ASSETS;

/// The name changes with the content of the file, so a cached copy is never stale.
const CACHE: &str = "public, max-age=31536000, immutable";

pub(super) async fn serve_asset(Path(name): Path<String>) -> Response {
    let Some(asset) = ASSETS.find_asset(&name) else {
        return (StatusCode::NOT_FOUND, [(header::CACHE_CONTROL, "no-store")]).into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CACHE_CONTROL, CACHE),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    (headers, asset.body).into_response()
}
