//! Headers, files and checks that all pages of the desk share.
//!
//! # Promise
//!
//! A page loads nothing from another origin and is shown in no frame. A form of another site is refused. A browser never
//! uses a stale copy of a file.

mod assets;
mod cross_site;
mod security_headers;

use std::error::Error;

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

pub use assets::{Asset, serve_asset};
pub use cross_site::is_cross_site;
pub use security_headers::add_security_headers;

/// Renders a page.
pub fn render_page(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => Html(text).into_response(),
        Err(error) => {
            tracing::error!(error = &error as &dyn Error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
