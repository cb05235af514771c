//! The visitor of a page, by their cookie, and their address.

use std::net::SocketAddr;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use nightdesk_port::Bot;
use nightdesk_webchat::session::{COOKIE_NAME, VisitorSession};

use super::{ChatPage, Chats};

/// A visitor, and the cookie that their browser is to store.
pub(super) struct Visitor {
    pub(super) session: VisitorSession,
    /// True if the request had no valid cookie.
    pub(super) is_new: bool,
    pub(super) set_cookie: Option<HeaderValue>,
}

impl Visitor {
    /// Reads the visitor of a page. A request without a valid cookie is a new visitor; if their address brings too many, the
    /// error is the time to wait.
    pub(super) fn read(
        chats: &Chats,
        page: &ChatPage,
        headers: &HeaderMap,
        from: SocketAddr,
    ) -> Result<Self, Duration> {
        let (bot, path) = (&page.account.bot, &page.path);
        let now = chats.webchat.now();
        let known = VisitorSession::from_request(bot, headers, now);
        let is_new = known.is_none();
        let (session, needs_cookie) = match known {
            Some(known) if known.is_to_be_renewed(now) => (known.renew(now), true),
            Some(known) => (known, false),
            None => {
                chats.pace.session(from.ip())?;
                (VisitorSession::new(now), true)
            }
        };
        let cookie = || session.set_cookie(bot, path, chats.webchat.public_url());
        let set_cookie = needs_cookie.then(cookie).flatten().and_then(|cookie| cookie.parse().ok());
        Ok(Self { session, is_new, set_cookie })
    }

    /// The headers of their next request.
    pub(super) fn headers(&self, bot: &Bot) -> HeaderMap {
        let value = self.session.cookie_value(bot).unwrap_or_default();
        let cookie = format!("{COOKIE_NAME}={value}").parse().ok();
        cookie.map(|cookie: HeaderValue| (header::COOKIE, cookie)).into_iter().collect()
    }
}
