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
use nightdesk_port::SignedRequest;
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
    let written = tasks.spawn(written(chats, account, path, visitor, (form, body))).await;
    written.unwrap_or_else(|_| Outcome::TryAgain.plain(form))
}

async fn written(
    chats: Arc<Chats>,
    account: Account,
    path: String,
    visitor: Visitor,
    (form, body): (Form, Bytes),
) -> Response {
    let posted = match form {
        Form::Script => Posted::from_json(&body),
        Form::Page => Posted::from_form(&body),
    };
    let unsent = posted.as_ref().map(|posted| posted.text.clone()).unwrap_or_default();
    let outcome = match posted {
        Ok(posted) => put(&chats, &account, &path, &visitor, posted).await,
        Err(unfit) => Outcome::Unfit(unfit),
    };
    let answer = outcome.answer(form, &chats, (&account.bot, &path), &visitor, &unsent).await;
    with_cookie(answer, &visitor)
}

/// Puts a message on the road, and then into the transcript.
async fn put(
    chats: &Chats,
    account: &Account,
    path: &str,
    visitor: &Visitor,
    posted: Posted,
) -> Outcome {
    let (bot, id) = (&account.bot, &visitor.session.visitor);
    let text = match &posted.press {
        None => posted.text.clone(),
        Some(press) => match Press::read(bot, id, press) {
            Some(press) => press.label,
            None => return Outcome::Unfit(PostedError::Unreadable),
        },
    };
    if let Err(wait) = chats.pace.message(bot.id, id) {
        return Outcome::TooFast(wait);
    }
    // Before it is taken: an answer that comes at once stands below it.
    let said = Said { at: chats.webchat.now(), nonce: posted.nonce.clone(), text };
    match taken(chats, path, &visitor.headers(bot), &posted).await {
        Ok(Answer::Taken { refused: false }) => {}
        Ok(Answer::Taken { refused: true }) => return Outcome::LinkedOnly(id.clone()),
        Ok(Answer::Challenge(_)) => return Outcome::Unfit(PostedError::Unreadable),
        Err(TakeError::NoBot | TakeError::Verify(_)) => return Outcome::TryAgain,
        Err(error @ (TakeError::Store(_) | TakeError::Register(_))) => {
            tracing::warn!(error = &error as &dyn Error, "a visitor's message could not be stored");
            return Outcome::TryAgain;
        }
    }
    match chats.webchat.note(&chat_of(bot, &visitor.session), &said).await {
        Ok(_) => Outcome::Sent { fresh: visitor.is_new },
        // It is in the inbox. The page comes again, and finds it there.
        Err(error) => {
            tracing::warn!(error = &error as &dyn Error, "a visitor's line could not be written");
            Outcome::TryAgain
        }
    }
}

async fn taken(
    chats: &Chats,
    path: &str,
    headers: &HeaderMap,
    posted: &Posted,
) -> Result<Answer, TakeError> {
    let body = posted.to_json();
    inbound::take(&chats.desk, path, &SignedRequest { headers, body: &body }).await
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
