//! The outcome of a message, as JSON for the script and as a page for the form.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_types::limits::CHAT_TEXT_CHARS_MAX;
use nightdesk_webchat::page::VisitorNotice;
use nightdesk_webchat::post::PagePostError;
use serde_json::json;

use super::super::page::{PageNotice, render, seconds};
use super::Post;

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostClient {
    /// The page's script, which expects JSON.
    Script,
    /// The page's form, which expects a page.
    Page,
}

/// The outcome of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PostOutcome {
    /// It is stored, and in the transcript.
    Sent {
        /// True for a new visitor, whose page still shows another chat.
        fresh: bool,
    },
    /// The chat is for linked people, and the visitor is not linked. Holds their code.
    LinkedOnly(String),
    /// The visitor exceeds the rate limit.
    TooFast(Duration),
    /// The body is not a message.
    Unfit(PagePostError),
    /// A page of another site sent it.
    CrossSite,
    /// It may or may not be stored; sending the same message again does no harm.
    TryAgain,
}

impl PostOutcome {
    const fn name(&self) -> &'static str {
        match self {
            Self::Sent { .. } => "sent",
            Self::LinkedOnly(_) => "linked_only",
            Self::TooFast(_) => "too_fast",
            Self::Unfit(_) => "unfit",
            Self::CrossSite => "cross_site",
            Self::TryAgain => "try_again",
        }
    }

    fn notice(&self) -> Option<VisitorNotice> {
        Some(match self {
            Self::Sent { .. } => return None,
            Self::LinkedOnly(code) => VisitorNotice {
                text: "This chat is for linked people, and you are not linked yet. Your message \
                       was not stored. Give this code to the person who runs the chat:"
                    .to_owned(),
                code: Some(code.clone()),
            },
            Self::TooFast(wait) => VisitorNotice::from_text(format!(
                "You are sending messages too fast. Please wait {} seconds and try again.",
                seconds(*wait)
            )),
            Self::Unfit(PagePostError::TooLong) => VisitorNotice::from_text(format!(
                "This message is too long: at most {CHAT_TEXT_CHARS_MAX} characters fit."
            )),
            Self::Unfit(PagePostError::Empty) => VisitorNotice::from_text("Write something first."),
            Self::Unfit(PagePostError::Unreadable) => {
                VisitorNotice::from_text("This page is out of date. Reload it and try again.")
            }
            Self::CrossSite => VisitorNotice::from_text("Open the chat itself to write in it."),
            Self::TryAgain => VisitorNotice::from_text(
                "Your message could not be sent just now. Please try again.",
            ),
        })
    }

    /// The response if there is no visitor, and so no page to render.
    pub(super) fn pageless_response(&self, form: PostClient) -> Response {
        let response = match form {
            PostClient::Script => self.json(),
            PostClient::Page => {
                let text = self.notice().map(|notice| notice.text).unwrap_or_default();
                text.into_response()
            }
        };
        self.with_headers(response)
    }

    /// The response. A form that was accepted leads to the page by a redirect, so that a reload sends nothing again.
    pub(super) async fn response(&self, post: &Post, unsent: &str) -> Response {
        match post.form {
            PostClient::Script => self.with_headers(self.json()),
            PostClient::Page if matches!(self, Self::Sent { .. }) => {
                let location = format!("/chat/{}", post.page.path);
                (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
            }
            PostClient::Page => {
                let notice = PageNotice { notice: self.notice(), unsent };
                let page = render(&post.chats, &post.page, &post.visitor.session, notice).await;
                self.with_headers(page)
            }
        }
    }

    fn json(&self) -> Response {
        let fresh = matches!(self, Self::Sent { fresh: true });
        let body = json!({ "result": self.name(), "fresh": fresh, "notice": self.notice() });
        Json(body).into_response()
    }

    fn with_headers(&self, mut response: Response) -> Response {
        *response.status_mut() = self.status();
        let wait = match self {
            Self::TooFast(wait) => Some(seconds(*wait)),
            Self::TryAgain => Some(2),
            Self::Sent { .. } | Self::LinkedOnly(_) | Self::Unfit(_) | Self::CrossSite => None,
        };
        if let Some(wait) = wait {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
        }
        response
    }
}
