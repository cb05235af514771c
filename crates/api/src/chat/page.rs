//! `GET /chat/{path}`: the page.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_pages::render_page;
use nightdesk_port::Bot;
use nightdesk_types::limits::CHAT_LINES_SHOWN;
use nightdesk_webchat::page::{Item, Page, StatusView, UnavailablePage, VisitorNotice};
use nightdesk_webchat::session::VisitorSession;
use nightdesk_webchat::settings::BotFace;
use nightdesk_webchat::store::VisitorChat;

use super::visitor::Visitor;
use super::{ChatPage, Chats, unavailable_page};

pub(super) async fn show(
    State(chats): State<Arc<Chats>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    page: ChatPage,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let visitor = Visitor::read(&chats, &page, &headers, from).map_err(too_many_visitors)?;
    let rendered = render(&chats, &page, &visitor.session, PageNotice::default()).await;
    Ok(with_cookie(rendered, &visitor))
}

/// The parts of a page besides its chat.
#[derive(Default)]
pub(super) struct PageNotice<'a> {
    pub(super) notice: Option<VisitorNotice>,
    /// The text that was written and could not be sent.
    pub(super) unsent: &'a str,
}

/// Renders the page of a visitor.
pub(super) async fn render(
    chats: &Chats,
    page: &ChatPage,
    session: &VisitorSession,
    notice: PageNotice<'_>,
) -> Response {
    let (bot, path) = (&page.account.bot, page.path.as_str());
    let chat = chat_of(bot, session);
    let news = match chats.webchat.store().latest_lines(&chat, CHAT_LINES_SHOWN).await {
        Ok(news) => news,
        Err(error) => {
            tracing::warn!(error = &error as &dyn Error, "a chat could not be read");
            return unavailable_page();
        }
    };
    let item = |line| Item::from_line(bot, &chat.visitor, path, line);
    render_page(&Page {
        face: BotFace::from_bot(bot),
        path,
        head: news.head,
        lines: news.lines.iter().map(item).collect(),
        status: StatusView::from_status(news.status.as_ref()),
        notice: notice.notice,
        unsent: notice.unsent,
        // The id of a new session is random enough for a nonce.
        nonce: VisitorSession::new(chats.webchat.now()).visitor,
    })
}

pub(super) fn chat_of(bot: &Bot, session: &VisitorSession) -> VisitorChat {
    VisitorChat { scope: bot.operator, bot: bot.id, visitor: session.visitor.clone() }
}

pub(super) fn with_cookie(mut response: Response, visitor: &Visitor) -> Response {
    if let Some(cookie) = visitor.set_cookie.clone() {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// The 429 for an address that brings too many new visitors.
pub(super) fn too_many_visitors(wait: Duration) -> Response {
    let page = UnavailablePage {
        title: "Just a moment",
        text: "Many people are coming from your network right now. Please reload this page in a minute.",
    };
    let retry = [(header::RETRY_AFTER, seconds(wait).to_string())];
    (StatusCode::TOO_MANY_REQUESTS, retry, render_page(&page)).into_response()
}

/// A wait in whole seconds, at least one.
pub(super) fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + 1
}
