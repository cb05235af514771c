//! `POST /chat/{path}/messages`: a message of a visitor.
//!
//! The page's script sends JSON and gets JSON; the page's form gets the page again. A message takes the same path as a
//! platform's event, and the response comes after it is stored and in the transcript.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use nightdesk_desk::inbound::{TakeError, WebhookResponse};
use nightdesk_pages::is_cross_site;
use nightdesk_port::{Entrance, SignedRequest};
use nightdesk_types::limits::{CHAT_BODY_BYTES_MAX, WEBHOOK_READ_WAIT};
use nightdesk_webchat::button::Press;
use nightdesk_webchat::post::{PagePost, PagePostError};
use nightdesk_webchat::store::VisitorMessage;
use tokio::time::timeout;

use super::page::{chat_of, too_many_visitors, with_cookie};
use super::visitor::Visitor;
use super::{ChatPage, Chats};

mod outcome;

use outcome::{PostClient, PostOutcome};

pub(super) async fn take_message(
    State(chats): State<Arc<Chats>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    page: ChatPage,
    request: Request,
) -> Result<Response, Response> {
    let (head, body) = request.into_parts();
    let form = PostClient::from_headers(&head.headers);
    if is_cross_site(&head.headers, chats.webchat.public_url()) {
        return Err(PostOutcome::CrossSite.pageless_response(form));
    }
    let Ok(Ok(body)) = timeout(WEBHOOK_READ_WAIT, to_bytes(body, CHAT_BODY_BYTES_MAX)).await else {
        return Err(PostOutcome::Unfit(PagePostError::TooLong).pageless_response(form));
    };
    let visitor = Visitor::read(&chats, &page, &head.headers, from);
    let visitor = visitor.map_err(|wait| match form {
        PostClient::Script => PostOutcome::TooFast(wait).pageless_response(form),
        PostClient::Page => too_many_visitors(wait),
    })?;
    // The task goes on if the visitor closes the page.
    let tasks = chats.desk.stops.tasks.clone();
    let post = Post { chats, page, visitor, form };
    let accepted = tasks.spawn(post.accept(body)).await;
    accepted.map_err(|_| PostOutcome::TryAgain.pageless_response(form))
}

/// One post of a visitor.
struct Post {
    chats: Arc<Chats>,
    page: ChatPage,
    visitor: Visitor,
    form: PostClient,
}

impl Post {
    async fn accept(self, body: Bytes) -> Response {
        let posted = match self.form {
            PostClient::Script => PagePost::from_json(&body),
            PostClient::Page => PagePost::from_form(&body),
        };
        let unsent = posted.as_ref().map(|posted| posted.text.clone()).unwrap_or_default();
        let outcome = match posted {
            Ok(posted) => self.put(posted).await,
            Err(unfit) => PostOutcome::Unfit(unfit),
        };
        with_cookie(outcome.response(&self, &unsent).await, &self.visitor)
    }

    /// Hands a message to the desk, and then puts it into the transcript.
    async fn put(&self, posted: PagePost) -> PostOutcome {
        let Some(text) = self.text(&posted) else {
            return PostOutcome::Unfit(PagePostError::Unreadable);
        };
        let visitor = &self.visitor.session.visitor;
        if let Err(wait) = self.chats.pace.message(self.page.account.bot.id, visitor) {
            return PostOutcome::TooFast(wait);
        }
        // The time is read before the hand-over, so that an immediate reply is shown below the message.
        let said =
            VisitorMessage { at: self.chats.webchat.now(), nonce: posted.nonce.clone(), text };
        match self.hand_over(&posted).await {
            Ok(WebhookResponse::Taken { refused: false }) => self.record_message(&said).await,
            Ok(WebhookResponse::Taken { refused: true }) => {
                PostOutcome::LinkedOnly(visitor.clone())
            }
            Ok(WebhookResponse::Answer(_)) => PostOutcome::Unfit(PagePostError::Unreadable),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "a visitor's message was not accepted"
                );
                PostOutcome::TryAgain
            }
        }
    }

    /// The text of the message. `None` if the visitor was not shown the button that it names.
    fn text(&self, posted: &PagePost) -> Option<String> {
        let Some(press) = &posted.press else { return Some(posted.text.clone()) };
        let press = Press::verify(&self.page.account.bot, &self.visitor.session.visitor, press)?;
        Some(press.label)
    }

    async fn hand_over(&self, posted: &PagePost) -> Result<WebhookResponse, TakeError> {
        let (headers, body) = (self.visitor.headers(&self.page.account.bot), posted.to_json());
        let request = SignedRequest::post(&headers, &body);
        self.chats.desk.inbound.take(Entrance::Page, &self.page.path, &request).await
    }

    async fn record_message(&self, said: &VisitorMessage) -> PostOutcome {
        let chat = chat_of(&self.page.account.bot, &self.visitor.session);
        match self.chats.webchat.record_visitor_message(&chat, said).await {
            Ok(_) => PostOutcome::Sent { fresh: self.visitor.is_new },
            // It is in the inbox. The page sends it again, and it is found there.
            Err(error) => {
                tracing::warn!(error = &error as &dyn Error, "a visitor's line was not written");
                PostOutcome::TryAgain
            }
        }
    }
}

impl PostClient {
    fn from_headers(headers: &HeaderMap) -> Self {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_form =
            kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
        if is_form { Self::Page } else { Self::Script }
    }
}

impl PostOutcome {
    const fn status(&self) -> StatusCode {
        match self {
            Self::Sent { .. } => StatusCode::OK,
            Self::LinkedOnly(_) | Self::CrossSite => StatusCode::FORBIDDEN,
            Self::TooFast(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unfit(PagePostError::TooLong) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unfit(PagePostError::Unreadable | PagePostError::Empty) => {
                StatusCode::BAD_REQUEST
            }
            Self::TryAgain => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
