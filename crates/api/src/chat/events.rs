//! `GET /chat/{path}/events`: the changes of a chat, as server-sent events.
//!
//! The number of a line's last change is the event's id, so a browser that reconnects names the last one it has and misses
//! nothing. The bell is a hint; the table is the truth.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use nightdesk_bus::{WaitLimit, Watch};
use nightdesk_types::Timestamp;
use nightdesk_types::limits::{
    CHAT_KEEP_ALIVE_EVERY, CHAT_LINES_SHOWN, CHAT_STREAM_LASTS, CHAT_SWEEP_EVERY,
};
use nightdesk_webchat::page::{Item, StatusView};
use nightdesk_webchat::session::VisitorSession;
use nightdesk_webchat::store::{ChatUpdate, VisitorChat};
use serde::Deserialize;
use tokio::time::{Instant, timeout, timeout_at};

use super::page::chat_of;
use super::{ChatPage, Chats};
use crate::extract::{QueryParameters, UrlQuery};

/// Delay before a browser reconnects.
const RETRY: Duration = Duration::from_secs(2);

/// Delay before a refused stream is opened again.
const FULL_RETRY_SECS: &str = "15";

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Without it, some proxies buffer a stream until it ends.
const BUFFERING: (HeaderName, &str) = (HeaderName::from_static("x-accel-buffering"), "no");

pub(super) async fn stream(
    State(chats): State<Arc<Chats>>,
    page: ChatPage,
    UrlQuery(StreamQuery { after }): UrlQuery<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    // A visitor without a cookie has no chat yet; the page gives them both.
    let session = VisitorSession::from_request(&page.account.bot, &headers, chats.webchat.now());
    let session = session.ok_or_else(|| StatusCode::FORBIDDEN.into_response())?;
    let chat = chat_of(&page.account.bot, &session);
    let watch = chats.watchers.watch(chat.bot, &chat.visitor).map_err(too_many_streams)?;
    let view = ChatView {
        ends_at: Instant::now() + CHAT_STREAM_LASTS,
        chats,
        page,
        chat,
        watch,
        after: last_event_id(&headers).or(after).unwrap_or(0),
        status: None,
        is_first: true,
    };
    let events = stream::unfold(view, |view| async move { view.next().await });
    let batches = futures_util::StreamExt::flat_map(events, stream::iter);
    let alive = KeepAlive::new().interval(CHAT_KEEP_ALIVE_EVERY);
    let mut response = Sse::new(batches).keep_alive(alive).into_response();
    response.headers_mut().insert(BUFFERING.0, HeaderValue::from_static(BUFFERING.1));
    Ok(response)
}

/// The number of the last change that the page shows when it opens the stream.
#[derive(Deserialize)]
pub(super) struct StreamQuery {
    after: Option<i64>,
}

impl QueryParameters for StreamQuery {
    const EXPECTED: &'static str = "after is the number of the last change that the page shows";
}

fn last_event_id(headers: &HeaderMap) -> Option<i64> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.parse().ok()
}

fn too_many_streams(full: WaitLimit) -> Response {
    let status = match full {
        WaitLimit::Chat => StatusCode::TOO_MANY_REQUESTS,
        WaitLimit::Node => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, [(header::RETRY_AFTER, FULL_RETRY_SECS)]).into_response()
}

/// One browser's view of a chat.
struct ChatView {
    chats: Arc<Chats>,
    page: ChatPage,
    chat: VisitorChat,
    watch: Watch,
    after: i64,
    /// The last status that was sent, and the time at which it was set.
    status: Option<(String, Timestamp)>,
    is_first: bool,
    ends_at: Instant,
}

type Batch = Vec<Result<Event, Infallible>>;

impl ChatView {
    /// The next events, and the view after them. `None` ends the stream, and the browser opens another.
    async fn next(mut self) -> Option<(Batch, Self)> {
        loop {
            if self.chats.drain.is_cancelled() || Instant::now() >= self.ends_at {
                return None;
            }
            let store = self.chats.webchat.store();
            match store.lines_since(&self.chat, self.after, CHAT_LINES_SHOWN).await {
                Ok(news) => {
                    let batch = self.events(&news);
                    if !batch.is_empty() {
                        return Some((batch, self));
                    }
                }
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "a stream could not read its chat"
                    );
                }
            }
            self.wait().await;
        }
    }

    /// Waits for the bell, with a timeout because the bell is only a hint.
    async fn wait(&self) {
        let drained = self.chats.drain.cancelled();
        let rung = async {
            tokio::select! {
                () = self.watch.wait_for_ring() => {}
                () = drained => {}
            }
        };
        // The next step is the same, whatever ended the wait.
        drop(timeout_at(self.ends_at, timeout(CHAT_SWEEP_EVERY, rung)).await);
    }

    fn events(&mut self, news: &ChatUpdate) -> Batch {
        let mut batch: Batch = news.lines.iter().map(|line| Ok(self.line(line))).collect();
        self.after = match news.lines.last() {
            Some(line) => line.seq,
            // The numbers of a chat that was deleted begin anew.
            None => self.after.min(news.head),
        };
        if let Some(status) = self.changed_status(news) {
            batch.push(Ok(status));
        }
        batch
    }

    fn line(&self, line: &nightdesk_webchat::store::ChatLine) -> Event {
        let item =
            Item::from_line(&self.page.account.bot, &self.chat.visitor, &self.page.path, line);
        Event::default().id(line.seq.to_string()).event("line").data(item.to_event())
    }

    /// The status, if it changed since it was last sent. The first events always contain it.
    fn changed_status(&mut self, news: &ChatUpdate) -> Option<Event> {
        let status = news.status.as_ref().map(|status| (status.text.clone(), status.set_at));
        if status == self.status && !self.is_first {
            return None;
        }
        let shown = StatusView::from_status(news.status.as_ref());
        let event = Event::default().event("status").data(shown.to_event());
        let event = if self.is_first { event.retry(RETRY) } else { event };
        (self.status, self.is_first) = (status, false);
        Some(event)
    }
}
