//! Pages for requests that were refused or failed.

use std::error::Error;

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nightdesk_office::OfficeError;
use nightdesk_pages::render_page;
use nightdesk_users::Denial;

use crate::assets::ASSETS;

/// A request that was refused or failed, as a page with the next step.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    title: &'static str,
    text: String,
}

#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalPage<'a> {
    title: &'a str,
    text: &'a str,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let page = RefusalPage { title: self.title, text: &self.text };
        (self.status, render_page(&page)).into_response()
    }
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, title: &'static str, text: impl Into<String>) -> Self {
        Self { status, title, text: text.into() }
    }

    /// Returns true if the same request may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        self.status == StatusCode::SERVICE_UNAVAILABLE
    }
}

/// The 503.
pub(crate) fn unavailable(error: &(dyn Error + 'static)) -> Refusal {
    tracing::warn!(error, "a page could not be made");
    Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "Back in a moment",
        "The desk cannot read its data just now. Nothing is lost; reload this page in a few seconds.",
    )
}

/// The 403 for a form of another site.
pub(crate) fn cross_site() -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "This form is not from here",
        "Another site sent this form, so nothing was changed. Open the page on the desk and try again.",
    )
}

/// The 400 for a form with missing or wrong fields.
pub(crate) fn bad_form() -> Refusal {
    Refusal::new(
        StatusCode::BAD_REQUEST,
        "The form is incomplete",
        "A field is missing or wrong, so nothing was changed. Go back, correct it and send it again.",
    )
}

impl From<OfficeError> for Refusal {
    fn from(error: OfficeError) -> Self {
        let text = error.to_string();
        match &error {
            OfficeError::NotFound(_) | OfficeError::Denied(Denial::Hidden) => {
                Self::new(StatusCode::NOT_FOUND, "There is nothing here", text)
            }
            OfficeError::NotAllowed(_)
            | OfficeError::Denied(
                Denial::RoleLacks(_) | Denial::TokenLacks(_) | Denial::TenantDecides,
            ) => Self::new(StatusCode::FORBIDDEN, "Your role does not allow this", text),
            OfficeError::Conflict(_)
            | OfficeError::Letter(_)
            | OfficeError::Skill(_)
            | OfficeError::Data(_) => {
                Self::new(StatusCode::CONFLICT, "This is not possible now", text)
            }
            OfficeError::Invalid(_) => {
                Self::new(StatusCode::BAD_REQUEST, "Please correct the form", text)
            }
            OfficeError::OverQuota(_) => {
                Self::new(StatusCode::CONFLICT, "The quota is used up", text)
            }
            OfficeError::Unavailable(_) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "This is not possible now", text)
            }
            OfficeError::Store(cause) => unavailable(cause),
            OfficeError::Key(cause) => unavailable(cause),
        }
    }
}

/// Renders a part of a page.
pub(crate) fn rendered(part: &impl Template) -> Result<String, Refusal> {
    part.render().map_err(|error| {
        tracing::error!(error = &error as &dyn Error, "a part of a page could not be rendered");
        Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "This page has a fault",
            "The desk could not make the page; its log has the cause.",
        )
    })
}
