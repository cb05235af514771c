//! Rows that change while a page is open, as server-sent events.
//!
//! A stream reads the part of its page again, sends it if it changed, and rests. It ends with the session, with the user's
//! right to the page, or when the node stops; an open page records no use of the session.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use nightdesk_types::UserId;
use nightdesk_types::limits::{
    LIVE_EVERY, LIVE_KEEP_ALIVE_EVERY, LIVE_REST, LIVE_STREAM_LASTS, LIVE_STREAMS_MAX,
    LIVE_STREAMS_PER_USER_MAX,
};
use nightdesk_users::Access;
use tokio::time::{Instant, sleep};

use crate::cookie::PageCookie;
use crate::refusal::Refusal;
use crate::session::PageUser;
use crate::state::Dashboard;

/// Delay before a refused stream is opened again.
const FULL_RETRY_SECS: &str = "15";

/// Without it, some proxies buffer a stream until it ends.
const BUFFERING: (HeaderName, &str) = (HeaderName::from_static("x-accel-buffering"), "no");

/// A part of a page that changes.
pub(crate) trait LiveFragment: Send + Sync + 'static {
    /// Reads and renders the part for a user, whose rights may have changed since the last time.
    fn render(
        &self,
        desk: &Dashboard,
        access: &Access,
    ) -> impl Future<Output = Result<String, Refusal>> + Send;
}

/// The open streams of this node, by user.
#[derive(Debug, Default)]
pub(crate) struct LiveStreams(Mutex<BTreeMap<UserId, usize>>);

impl LiveStreams {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<UserId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a stream of a user. `None`: the user or the node has as many as it may have.
    fn open(self: &Arc<Self>, user: UserId) -> Option<OpenStream> {
        let mut open = self.lock();
        if open.values().sum::<usize>() >= LIVE_STREAMS_MAX {
            return None;
        }
        let own = open.entry(user).or_default();
        if *own >= LIVE_STREAMS_PER_USER_MAX {
            return None;
        }
        *own += 1;
        Some(OpenStream { streams: Arc::clone(self), user })
    }

    fn close(&self, user: UserId) {
        let mut open = self.lock();
        if let Some(own) = open.get_mut(&user) {
            *own -= 1;
            if *own == 0 {
                open.remove(&user);
            }
        }
    }
}

/// One of a user's open streams.
#[derive(Debug)]
struct OpenStream {
    streams: Arc<LiveStreams>,
    user: UserId,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.streams.close(self.user);
    }
}

/// A request for a stream.
pub(crate) struct LiveRequest {
    desk: Dashboard,
    user: UserId,
    cookie: String,
}

impl FromRequestParts<Dashboard> for LiveRequest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, desk: &Dashboard) -> Result<Self, Response> {
        let PageUser(access) = PageUser::from_request_parts(parts, desk).await?;
        let cookie = PageCookie::Session.read(&parts.headers, desk.public_url());
        Ok(Self { desk: desk.clone(), user: access.user, cookie: cookie.unwrap_or_default() })
    }
}

impl LiveRequest {
    /// Answers with the stream of a part.
    pub(crate) fn stream(self, fragment: impl LiveFragment) -> Response {
        let Self { desk, user, cookie } = self;
        let Some(open) = desk.streams.open(user) else {
            let retry = [(header::RETRY_AFTER, FULL_RETRY_SECS)];
            return (StatusCode::TOO_MANY_REQUESTS, retry).into_response();
        };
        let ends_at = Instant::now() + LIVE_STREAM_LASTS;
        let view = LiveView { desk, cookie, fragment, sent: None, ends_at, _open: open };
        let events = stream::unfold(Some(view), |view| async move { view?.next().await });
        let alive = KeepAlive::new().interval(LIVE_KEEP_ALIVE_EVERY);
        let mut response = Sse::new(events).keep_alive(alive).into_response();
        response.headers_mut().insert(BUFFERING.0, HeaderValue::from_static(BUFFERING.1));
        response
    }
}

/// An open page's view of its part.
struct LiveView<F> {
    desk: Dashboard,
    cookie: String,
    fragment: F,
    /// The part that was sent last.
    sent: Option<String>,
    ends_at: Instant,
    _open: OpenStream,
}

type LiveEvent = Result<Event, Infallible>;

impl<F: LiveFragment> LiveView<F> {
    /// Returns the next event, and the view after it. No event: the stream ends, and the page opens another.
    async fn next(mut self) -> Option<(LiveEvent, Option<Self>)> {
        let mut rest = LIVE_EVERY;
        loop {
            tokio::select! {
                () = sleep(rest) => {}
                () = self.desk.drained() => return None,
            }
            let began = Instant::now();
            if began >= self.ends_at {
                return None;
            }
            match self.read().await {
                Ok(Some(part)) if self.sent.as_ref() == Some(&part) => {}
                Ok(Some(part)) => {
                    let event = Event::default().event("fragment").data(&part);
                    self.sent = Some(part);
                    return Some((Ok(event), Some(self)));
                }
                Ok(None) => {
                    return Some((Ok(Event::default().event("over").data("over")), None));
                }
                // The store cannot be read at the moment.
                Err(()) => {}
            }
            rest = LIVE_EVERY.max(began.elapsed() * LIVE_REST);
        }
    }

    /// Reads the part. `None`: the session is over, or the user may not see the page any more.
    async fn read(&self) -> Result<Option<String>, ()> {
        let access = self.desk.office().users().look_at_session(&self.cookie).await;
        let access = access.map_err(|error| {
            tracing::warn!(error = &error as &dyn Error, "a stream could not check its session");
        })?;
        let Some(access) = access else { return Ok(None) };
        match self.fragment.render(&self.desk, &access).await {
            // A line of an event ends at a carriage return, too.
            Ok(part) => Ok(Some(part.replace('\r', ""))),
            Err(refusal) if refusal.is_temporary() => Err(()),
            Err(_) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_a_bounded_number_of_streams() {
        let streams = Arc::new(LiveStreams::default());
        let user = |number| format!("00000000-0000-0000-0000-{number:012}").parse().unwrap();
        let own: Vec<OpenStream> =
            (0..LIVE_STREAMS_PER_USER_MAX).map(|_| streams.open(user(1)).unwrap()).collect();

        assert!(streams.open(user(1)).is_none());
        assert!(streams.open(user(2)).is_some(), "another user has own ones");
        drop(own);
        assert!(streams.open(user(1)).is_some(), "closed ones do not count");
    }

    #[test]
    fn a_node_has_a_bounded_number_of_streams() {
        let streams = Arc::new(LiveStreams::default());
        let user = |number| format!("00000000-0000-0000-0000-{number:012}").parse().unwrap();
        let all: Vec<OpenStream> =
            (0..LIVE_STREAMS_MAX).map(|number| streams.open(user(number)).unwrap()).collect();

        assert!(streams.open(user(LIVE_STREAMS_MAX)).is_none());
        drop(all);
        assert_eq!(streams.lock().len(), 0);
    }
}
