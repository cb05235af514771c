//! `GET /chat/{path}/events`: what happens in a chat, as server-sent events.
//!
//! The number of a line's last change is the event's id, so a browser that lost its stream says
//! where it stood and misses nothing. The bell is a hint; the table is the truth.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use nightdesk_bus::{Full, Watch};
use nightdesk_port::Bot;
use nightdesk_types::Timestamp;
use nightdesk_types::limits::{
    CHAT_KEEP_ALIVE_EVERY, CHAT_LINES_SHOWN, CHAT_STREAM_LASTS, CHAT_SWEEP_EVERY,
};
use nightdesk_webchat::page::{Item, Shown};
use nightdesk_webchat::session::Session;
use nightdesk_webchat::store::{Chat, News};
use tokio::time::{Instant, timeout, timeout_at};

use super::Chats;
use super::page::chat_of;

/// How long a browser waits before it opens a lost stream again.
const RETRY: Duration = Duration::from_secs(2);

/// How long a stream that was refused is to wait.
const FULL_RETRY_SECS: &str = "15";

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Some proxies would hold a stream back until it ends.
const BUFFERING: (HeaderName, &str) = (HeaderName::from_static("x-accel-buffering"), "no");

pub(super) async fn stream(
    State(chats): State<Arc<Chats>>,
    Path(path): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let account = match chats.account(&path).await {
        Ok(account) => account,
        Err(page) => return page,
    };
    // Whoever has no cookie has no chat to look at; the page gives them both.
    let Some(session) = Session::of(&account.bot, &headers, chats.webchat.now()) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    let chat = chat_of(&account.bot, &session);
    let watch = match chats.watchers.watch(chat.bot, &chat.visitor) {
        Ok(watch) => watch,
        Err(full) => return refused(full),
    };
    let after = last_seen(&headers).or_else(|| shown(query.as_deref()?)).unwrap_or(0);
    let looking = Looking {
        ends_at: Instant::now() + CHAT_STREAM_LASTS,
        chats,
        bot: account.bot,
        path,
        chat,
        watch,
        after,
        status: None,
        is_first: true,
    };
    let events = stream::unfold(looking, |looking| async move { looking.next().await });
    let batches = futures_util::StreamExt::flat_map(events, stream::iter);
    let alive = KeepAlive::new().interval(CHAT_KEEP_ALIVE_EVERY);
    let mut response = Sse::new(batches).keep_alive(alive).into_response();
    response.headers_mut().insert(BUFFERING.0, HeaderValue::from_static(BUFFERING.1));
    response
}

fn last_seen(headers: &HeaderMap) -> Option<i64> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.parse().ok()
}

/// What the page showed when it opened the stream: `after=12`.
fn shown(query: &str) -> Option<i64> {
    query.strip_prefix("after=")?.parse().ok()
}

fn refused(full: Full) -> Response {
    let status = match full {
        Full::Chat => StatusCode::TOO_MANY_REQUESTS,
        Full::Node => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, [(header::RETRY_AFTER, FULL_RETRY_SECS)]).into_response()
}

/// One browser's look at a chat.
struct Looking {
    chats: Arc<Chats>,
    bot: Arc<Bot>,
    path: String,
    chat: Chat,
    watch: Watch,
    after: i64,
    /// The status that was last told, and when it was set.
    status: Option<(String, Timestamp)>,
    is_first: bool,
    ends_at: Instant,
}

type Batch = Vec<Result<Event, Infallible>>;

impl Looking {
    /// What is to be told next, and from where to look on. `None`: the stream ends, and the
    /// browser opens another.
    async fn next(mut self) -> Option<(Batch, Self)> {
        loop {
            if self.chats.drain.is_cancelled() || Instant::now() >= self.ends_at {
                return None;
            }
            let store = self.chats.webchat.store();
            match store.since(&self.chat, self.after, CHAT_LINES_SHOWN).await {
                Ok(news) => {
                    let batch = self.tell(&news);
                    if !batch.is_empty() {
                        return Some((batch, self));
                    }
                }
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "a stream could not look at its chat"
                    );
                }
            }
            self.wait().await;
        }
    }

    /// Waits for the bell, and not for long: it is only a hint.
    async fn wait(&self) {
        let drained = self.chats.drain.cancelled();
        let rung = async {
            tokio::select! {
                () = self.watch.rung() => {}
                () = drained => {}
            }
        };
        // Whatever ends the wait, it is time to look.
        drop(timeout_at(self.ends_at, timeout(CHAT_SWEEP_EVERY, rung)).await);
    }

    fn tell(&mut self, news: &News) -> Batch {
        let mut batch: Batch = news.lines.iter().map(|line| Ok(self.line(line))).collect();
        self.after = match news.lines.last() {
            Some(line) => line.seq,
            // A chat that was forgotten counts anew.
            None => self.after.min(news.head),
        };
        if let Some(status) = self.changed_status(news) {
            batch.push(Ok(status));
        }
        batch
    }

    fn line(&self, line: &nightdesk_webchat::store::Line) -> Event {
        let item = Item::of(&self.bot, &self.chat.visitor, &self.path, line);
        Event::default().id(line.seq.to_string()).event("line").data(item.news())
    }

    /// The status, if it is another than was told. The first look always tells it.
    fn changed_status(&mut self, news: &News) -> Option<Event> {
        let told = news.status.as_ref().map(|status| (status.text.clone(), status.set_at));
        if told == self.status && !self.is_first {
            return None;
        }
        let shown = Shown::of(news.status.as_ref());
        let event = Event::default().event("status").data(shown.news());
        let event = if self.is_first { event.retry(RETRY) } else { event };
        (self.status, self.is_first) = (told, false);
        Some(event)
    }
}
