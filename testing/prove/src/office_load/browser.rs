//! A browser without a screen: it logs in by a link, requests pages, submits forms, and reads streams of live rows.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CONNECTION, CONTENT_TYPE, COOKIE, HOST, HeaderName, LOCATION, ORIGIN, SET_COOKIE,
};
use hyper::{Method, Request, Response};
use tokio::net::TcpStream;

use crate::http;

/// The part of a login link before its code.
const LINK: &str = "/login?code=";

/// Beginning of the line that names an event.
const EVENT: &[u8] = b"event: ";

/// Longest line of an event whose end matters.
const LINE_BYTES_MAX: usize = 64;

/// The session of a user at a node.
#[derive(Clone, Debug)]
pub struct DeskBrowser {
    node: SocketAddr,
    cookie: String,
}

/// A response of the dashboard.
#[derive(Debug)]
pub(super) struct LoadedPage {
    pub(super) status: u16,
    /// The page to which it redirects.
    pub(super) location: Option<String>,
    pub(super) html: String,
    cookie: Option<String>,
}

impl DeskBrowser {
    /// Begins a session by a page or an output that contains a login link.
    pub async fn log_in(node: SocketAddr, text: &str) -> Result<Self> {
        let code = code_of(text).context("there is no login link")?;
        let nobody = Self { node, cookie: String::new() };
        let page = nobody.submit("/login", &format!("code={code}")).await?;
        let cookie = page.cookie.with_context(|| format!("a login got {}", page.status))?;
        Ok(Self { cookie, ..nobody })
    }

    /// Returns the node.
    pub(super) const fn node(&self) -> SocketAddr {
        self.node
    }

    /// Returns the same session at another node.
    pub(super) fn at(&self, node: SocketAddr) -> Self {
        Self { node, cookie: self.cookie.clone() }
    }

    /// Requests a page.
    pub(super) async fn open(&self, path: &str) -> Result<LoadedPage> {
        self.load(self.request(Method::GET, path, String::new())?).await
    }

    /// Submits a form, whose fields must be encoded. It must succeed.
    pub(super) async fn submit(&self, path: &str, fields: &str) -> Result<LoadedPage> {
        let page = self.load(self.request(Method::POST, path, fields.to_owned())?).await?;
        ensure!(page.status < 400, "the form of {path} got {}:\n{}", page.status, page.html);
        Ok(page)
    }

    /// Reads a stream of live rows until it ends.
    pub(super) async fn watch(&self, path: &str, mut on_rows: impl FnMut()) -> Result<()> {
        let request = self.request(Method::GET, path, String::new())?;
        let read = async |response: Response<Incoming>| {
            ensure!(response.status() == 200, "the stream {path} got {}", response.status());
            let (mut body, mut lines) = (response.into_body(), EventLines::default());
            while let Some(frame) = body.frame().await {
                let frame = frame.with_context(|| format!("the stream {path} broke off"))?;
                let bytes = frame.data_ref().map_or(&[][..], |bytes| bytes.as_ref());
                for event in lines.read(bytes) {
                    match event {
                        StreamEvent::Rows => on_rows(),
                        StreamEvent::Over => bail!("the desk ended the stream {path}"),
                    }
                }
            }
            bail!("the stream {path} ended")
        };
        http::exchange(self.connect().await?, request, read).await
    }

    async fn connect(&self) -> Result<TcpStream> {
        TcpStream::connect(self.node).await.context("could not reach the desk")
    }

    async fn load(&self, request: Request<Full<Bytes>>) -> Result<LoadedPage> {
        http::exchange(self.connect().await?, request, async |response| {
            let (head, body) = response.into_parts();
            let text = |name: HeaderName| Some(head.headers.get(name)?.to_str().ok()?.to_owned());
            let cookie = text(SET_COOKIE);
            let cookie = cookie.and_then(|line| Some(line.split_once(';')?.0.to_owned()));
            let html = body.collect().await.context("a page broke off")?.to_bytes();
            let html = String::from_utf8(html.to_vec()).context("a page is no text")?;
            Ok(LoadedPage { status: head.status.as_u16(), location: text(LOCATION), html, cookie })
        })
        .await
    }

    fn request(&self, method: Method, path: &str, body: String) -> Result<Request<Full<Bytes>>> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.node.to_string())
            .header(ORIGIN, format!("http://{}", self.node))
            .header(COOKIE, &self.cookie)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(CONNECTION, "close")
            .body(Full::new(Bytes::from(body)));
        request.with_context(|| format!("could not write a request for {path}"))
    }
}

/// Returns the code of the first login link in a text.
fn code_of(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(LINK)?;
    let is_of_code = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    Some(&rest[..rest.find(|c| !is_of_code(c)).unwrap_or(rest.len())])
}

/// An event of a stream of live rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamEvent {
    /// New rows.
    Rows,
    /// The user may not see the page any more.
    Over,
}

/// Finds the events in a stream that arrives in parts.
#[derive(Debug, Default)]
struct EventLines {
    /// The beginning of the unfinished line.
    line: Vec<u8>,
}

impl EventLines {
    fn read(&mut self, bytes: &[u8]) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                events.extend(match line.strip_prefix(EVENT).map(<[u8]>::trim_ascii_end) {
                    Some(b"fragment") => Some(StreamEvent::Rows),
                    Some(b"over") => Some(StreamEvent::Over),
                    Some(_) | None => None,
                });
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_found_in_a_text() {
        let cases = [
            ("an output", "http://127.0.0.1:1/login?code=ndl_a-B9\n", Some("ndl_a-B9")),
            ("a page", "<code>https://d.example/login?code=ndl_7</code>", Some("ndl_7")),
            ("no link", "https://d.example/login", None),
        ];
        for (name, text, want) in cases {
            assert_eq!(code_of(text), want, "{name}");
        }
    }

    #[test]
    fn events_are_found_however_their_stream_is_cut() {
        let stream = format!(
            "event: fragment\ndata: {}\n\n:\n\nevent: fragment\ndata: event: over\n\nevent: over\n\n",
            "x".repeat(300)
        );
        for cut in 1..stream.len() {
            let mut lines = EventLines::default();
            let found: Vec<_> =
                stream.as_bytes().chunks(cut).flat_map(|part| lines.read(part)).collect();
            assert_eq!(found, [StreamEvent::Rows, StreamEvent::Rows, StreamEvent::Over], "{cut}");
        }
    }
}
