//! `GET /chat/{path}`: the page.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_port::Bot;
use nightdesk_types::limits::CHAT_LINES_SHOWN;
use nightdesk_webchat::page::{Elsewhere, Item, Notice, Page, Shown};
use nightdesk_webchat::session::Session;
use nightdesk_webchat::settings::Face;
use nightdesk_webchat::store::Chat;

use super::visitor::Visitor;
use super::{Chats, html, resting};

pub(super) async fn show(
    State(chats): State<Arc<Chats>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    let account = match chats.account(&path).await {
        Ok(account) => account,
        Err(page) => return page,
    };
    let visitor = match Visitor::of(&chats, (&account.bot, &path), &headers, from) {
        Ok(visitor) => visitor,
        Err(wait) => return crowded(wait),
    };
    let page = rendered(&chats, (&account.bot, &path), &visitor.session, Telling::default()).await;
    with_cookie(page, &visitor)
}

/// What a page tells besides its chat.
#[derive(Default)]
pub(super) struct Telling<'a> {
    pub(super) notice: Option<Notice>,
    /// What was written and could not be sent.
    pub(super) unsent: &'a str,
}

/// The page of a visitor.
pub(super) async fn rendered(
    chats: &Chats,
    (bot, path): (&Bot, &str),
    session: &Session,
    telling: Telling<'_>,
) -> Response {
    let chat = chat_of(bot, session);
    let news = match chats.webchat.store().latest(&chat, CHAT_LINES_SHOWN).await {
        Ok(news) => news,
        Err(error) => {
            tracing::warn!(error = &error as &dyn Error, "a chat could not be read");
            return resting();
        }
    };
    let item = |line| Item::of(bot, &chat.visitor, path, line);
    html(&Page {
        face: Face::of(bot),
        path,
        head: news.head,
        lines: news.lines.iter().map(item).collect(),
        status: Shown::of(news.status.as_ref()),
        notice: telling.notice,
        unsent: telling.unsent,
        // As unguessable as a visitor, and as unlikely to come again.
        nonce: Session::new(chats.webchat.now()).visitor,
    })
}

pub(super) fn chat_of(bot: &Bot, session: &Session) -> Chat {
    Chat { scope: bot.operator, bot: bot.id, visitor: session.visitor.clone() }
}

pub(super) fn with_cookie(mut response: Response, visitor: &Visitor) -> Response {
    if let Some(cookie) = visitor.set_cookie.clone() {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Too many come from one place.
pub(super) fn crowded(wait: Duration) -> Response {
    let page = Elsewhere {
        title: "Just a moment",
        text: "Many people are coming from your network right now. Please reload this page in a minute.",
    };
    let retry = [(header::RETRY_AFTER, seconds(wait).to_string())];
    (StatusCode::TOO_MANY_REQUESTS, retry, html(&page)).into_response()
}

/// A wait in whole seconds, never none.
pub(super) fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + 1
}
