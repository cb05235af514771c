//! The page after a form that made a secret, which is shown once.

use askama::Template;
use axum::response::Response;
use nightdesk_pages::render_page;

use crate::assets::ASSETS;
use crate::layout::Layout;

/// A name and a value.
#[derive(Debug)]
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

/// Returns a fact.
pub(crate) fn fact(name: &'static str, value: impl Into<String>) -> Fact {
    Fact { name, value: value.into() }
}

/// A page that shows a secret once.
#[derive(Template)]
#[template(path = "secret.html")]
pub(crate) struct SecretPage {
    pub(crate) layout: Layout,
    pub(crate) title: String,
    /// The use of the secret.
    pub(crate) text: &'static str,
    pub(crate) facts: Vec<Fact>,
    /// The page to which the user returns.
    pub(crate) back: String,
}

impl SecretPage {
    pub(crate) fn into_response(self) -> Response {
        render_page(&self)
    }
}
