//! The page before a form that cannot be undone.

use askama::Template;
use axum::response::Response;
use nightdesk_pages::render_page;

use crate::assets::ASSETS;
use crate::layout::Layout;

/// A page that asks for a confirmation.
#[derive(Template)]
#[template(path = "confirm.html")]
pub(crate) struct Confirmation {
    pub(crate) layout: Layout,
    pub(crate) title: String,
    /// The consequence, and that it is final.
    pub(crate) text: String,
    /// The address to which the form posts.
    pub(crate) action: String,
    /// The value of the form's field `confirm`.
    pub(crate) confirm: String,
    /// The label of the button.
    pub(crate) button: &'static str,
    /// The page to which the user can return.
    pub(crate) back: String,
}

impl Confirmation {
    pub(crate) fn into_response(self) -> Response {
        render_page(&self)
    }
}

/// The form of such a page.
#[derive(serde::Deserialize)]
pub(crate) struct ConfirmForm {
    #[serde(default)]
    pub(crate) confirm: String,
}
