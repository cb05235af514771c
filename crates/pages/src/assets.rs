//! Files of pages, each under a name that changes with its content.

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// A cached copy is never stale, because the name changes with the content.
const CACHE: &str = "public, max-age=31536000, immutable";

/// A file of a page.
#[derive(Debug)]
pub struct Asset {
    /// The name with a digest of the content.
    pub name: String,
    content_type: &'static str,
    body: &'static str,
}

impl Asset {
    /// Names a built-in file.
    pub fn new(
        stem: &str,
        extension: &str,
        content_type: &'static str,
        body: &'static str,
    ) -> Self {
        const MARK_BYTES: usize = 8;
        let mark = hex::encode(&digest(&SHA256, body.as_bytes()).as_ref()[..MARK_BYTES]);
        Self { name: format!("{stem}.{mark}.{extension}"), content_type, body }
    }

    /// Names a style sheet.
    pub fn style(stem: &str, body: &'static str) -> Self {
        Self::new(stem, "css", "text/css; charset=utf-8", body)
    }

    /// Names a script.
    pub fn script(stem: &str, body: &'static str) -> Self {
        Self::new(stem, "js", "text/javascript; charset=utf-8", body)
    }

    /// Names an icon.
    pub fn icon(stem: &str, body: &'static str) -> Self {
        Self::new(stem, "svg", "image/svg+xml", body)
    }
}

/// Returns the response with the file of this name, or the 404.
pub fn serve_asset<'a>(assets: impl IntoIterator<Item = &'a Asset>, name: &str) -> Response {
    let Some(asset) = assets.into_iter().find(|asset| asset.name == name) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_the_name_of_its_content_only() {
        let assets = [Asset::style("page", "p {}"), Asset::style("page", "p { margin: 0 }")];
        assert_ne!(assets[0].name, assets[1].name);

        let found = serve_asset(&assets, &assets[1].name);
        assert_eq!(found.status(), StatusCode::OK);
        assert_eq!(found.headers()[header::CONTENT_TYPE], "text/css; charset=utf-8");
        assert_eq!(serve_asset(&assets, "page.css").status(), StatusCode::NOT_FOUND);
    }
}
