//! `POST /chat/{path}/messages`: a visitor writes.
//!
//! By the page's script as JSON, which gets JSON, or by its form, which gets the page again.
//! The message takes the one road; it is answered when it is taken and written down.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use nightdesk_desk::Account;
use nightdesk_desk::inbound::{self, Answer, TakeError};
use nightdesk_port::{Entrance, SignedRequest};
use nightdesk_types::limits::{CHAT_BODY_BYTES_MAX, WEBHOOK_READ_WAIT};
use nightdesk_webchat::button::Press;
use nightdesk_webchat::store::Said;
use nightdesk_webchat::words::{Posted, PostedError};
use tokio::time::timeout;

use super::Chats;
use super::cross_site::is_cross_site;
use super::page::{chat_of, crowded, with_cookie};
use super::visitor::Visitor;

mod outcome;

use outcome::{Form, Outcome};

pub(super) async fn take(
    State(chats): State<Arc<Chats>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(path): Path<String>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let account = match chats.account(&path).await {
        Ok(account) => account,
        Err(page) => return page,
    };
    let form = Form::of(&head.headers);
    if is_cross_site(&head.headers, chats.webchat.public_url()) {
        return Outcome::CrossSite.plain(form);
    }
    let Ok(Ok(body)) = timeout(WEBHOOK_READ_WAIT, to_bytes(body, CHAT_BODY_BYTES_MAX)).await else {
        return Outcome::Unfit(PostedError::TooLong).plain(form);
    };
    let visitor = match Visitor::of(&chats, (&account.bot, &path), &head.headers, from) {
        Ok(visitor) => visitor,
        Err(wait) if form == Form::Script => return Outcome::TooFast(wait).plain(form),
        Err(wait) => return crowded(wait),
    };
    // A visitor who closes the page does not stop the work.
    let tasks = chats.desk.tasks.clone();
    let post = Post { chats, account, path, visitor, form };
    let written = tasks.spawn(post.written(body)).await;
    written.unwrap_or_else(|_| Outcome::TryAgain.plain(form))
}

/// One post of a visitor.
struct Post {
    chats: Arc<Chats>,
    account: Account,
    path: String,
    visitor: Visitor,
    form: Form,
}

impl Post {
    async fn written(self, body: Bytes) -> Response {
        let posted = match self.form {
            Form::Script => Posted::from_json(&body),
            Form::Page => Posted::from_form(&body),
        };
        let unsent = posted.as_ref().map(|posted| posted.text.clone()).unwrap_or_default();
        let outcome = match posted {
            Ok(posted) => self.put(posted).await,
            Err(unfit) => Outcome::Unfit(unfit),
        };
        with_cookie(outcome.answer(&self, &unsent).await, &self.visitor)
    }

    /// Puts a message on the road, and then into the transcript.
    async fn put(&self, posted: Posted) -> Outcome {
        let Some(text) = self.text(&posted) else {
            return Outcome::Unfit(PostedError::Unreadable);
        };
        let visitor = &self.visitor.session.visitor;
        if let Err(wait) = self.chats.pace.message(self.account.bot.id, visitor) {
            return Outcome::TooFast(wait);
        }
        // Before it is taken: an answer that comes at once stands below it.
        let said = Said { at: self.chats.webchat.now(), nonce: posted.nonce.clone(), text };
        match self.taken(&posted).await {
            Ok(Answer::Taken { refused: false }) => self.note(&said).await,
            Ok(Answer::Taken { refused: true }) => Outcome::LinkedOnly(visitor.clone()),
            Ok(Answer::Challenge(_) | Answer::Told(_)) => Outcome::Unfit(PostedError::Unreadable),
            Err(error) => {
                tracing::warn!(error = &error as &dyn Error, "a visitor's message was not taken");
                Outcome::TryAgain
            }
        }
    }

    /// What the message says. `None`: a button that this visitor was not shown.
    fn text(&self, posted: &Posted) -> Option<String> {
        let Some(press) = &posted.press else { return Some(posted.text.clone()) };
        let press = Press::read(&self.account.bot, &self.visitor.session.visitor, press)?;
        Some(press.label)
    }

    async fn taken(&self, posted: &Posted) -> Result<Answer, TakeError> {
        let (headers, body) = (self.visitor.headers(&self.account.bot), posted.to_json());
        let request = SignedRequest { headers: &headers, body: &body };
        inbound::take(&self.chats.desk, (Entrance::Page, &self.path), &request).await
    }

    async fn note(&self, said: &Said) -> Outcome {
        let chat = chat_of(&self.account.bot, &self.visitor.session);
        match self.chats.webchat.note(&chat, said).await {
            Ok(_) => Outcome::Sent { fresh: self.visitor.is_new },
            // It is in the inbox. The page comes again, and finds it there.
            Err(error) => {
                tracing::warn!(error = &error as &dyn Error, "a visitor's line was not written");
                Outcome::TryAgain
            }
        }
    }
}

impl Form {
    fn of(headers: &HeaderMap) -> Self {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_form =
            kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
        if is_form { Self::Page } else { Self::Script }
    }
}

impl Outcome {
    const fn status(&self) -> StatusCode {
        match self {
            Self::Sent { .. } => StatusCode::OK,
            Self::LinkedOnly(_) | Self::CrossSite => StatusCode::FORBIDDEN,
            Self::TooFast(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unfit(PostedError::TooLong) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unfit(PostedError::Unreadable | PostedError::Empty) => StatusCode::BAD_REQUEST,
            Self::TryAgain => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
