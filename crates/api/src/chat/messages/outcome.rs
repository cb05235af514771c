//! Outcome: what came of a message, as the script and as the page without one are told it.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_types::limits::CHAT_TEXT_CHARS_MAX;
use nightdesk_webchat::page::Notice;
use nightdesk_webchat::words::PostedError;
use serde_json::json;

use super::super::page::{Telling, rendered, seconds};
use super::Post;

/// How a message was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By the page's script, which wants JSON.
    Script,
    /// By the page's form, which wants a page.
    Page,
}

/// What came of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is stored, and stands in the transcript.
    Sent {
        /// Whether the visitor is somebody new, whose page shows another chat.
        fresh: bool,
    },
    /// Nobody is to get it: this chat is for linked people. Their code.
    LinkedOnly(String),
    /// They write too fast.
    TooFast(Duration),
    /// It is not a message.
    Unfit(PostedError),
    /// Another site sent it.
    CrossSite,
    /// It may or may not be stored; the same message again does no harm.
    TryAgain,
}

impl Outcome {
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

    fn notice(&self) -> Option<Notice> {
        Some(match self {
            Self::Sent { .. } => return None,
            Self::LinkedOnly(code) => Notice {
                text: "This chat is for linked people, and you are not linked yet. Your message \
                       was not kept. Give this code to whoever runs the chat:"
                    .to_owned(),
                code: Some(code.clone()),
            },
            Self::TooFast(wait) => Notice::of(format!(
                "That was a lot at once. Please wait {} seconds and try again.",
                seconds(*wait)
            )),
            Self::Unfit(PostedError::TooLong) => Notice::of(format!(
                "This message is too long: at most {CHAT_TEXT_CHARS_MAX} characters fit."
            )),
            Self::Unfit(PostedError::Empty) => Notice::of("Write something first."),
            Self::Unfit(PostedError::Unreadable) => {
                Notice::of("This page is out of date. Reload it and try again.")
            }
            Self::CrossSite => Notice::of("Open the chat itself to write in it."),
            Self::TryAgain => {
                Notice::of("Your message could not be sent just now. Please try again.")
            }
        })
    }

    /// The answer where no page of a visitor is at hand.
    pub(super) fn plain(&self, form: Form) -> Response {
        let response = match form {
            Form::Script => self.json(),
            Form::Page => {
                let text = self.notice().map(|notice| notice.text).unwrap_or_default();
                text.into_response()
            }
        };
        self.headed(response)
    }

    /// The answer. After a form that was taken, the page is asked for anew, so that a reload
    /// sends nothing again.
    pub(super) async fn answer(&self, post: &Post, unsent: &str) -> Response {
        match post.form {
            Form::Script => self.headed(self.json()),
            Form::Page if matches!(self, Self::Sent { .. }) => {
                let location = format!("/chat/{}", post.path);
                (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
            }
            Form::Page => {
                let telling = Telling { notice: self.notice(), unsent };
                let page = (&*post.account.bot, post.path.as_str());
                self.headed(rendered(&post.chats, page, &post.visitor.session, telling).await)
            }
        }
    }

    fn json(&self) -> Response {
        let fresh = matches!(self, Self::Sent { fresh: true });
        let body = json!({ "result": self.name(), "fresh": fresh, "notice": self.notice() });
        Json(body).into_response()
    }

    fn headed(&self, mut response: Response) -> Response {
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
