//! Simulates a visitor's browser.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::call::{Answered, get, get_head, post};

/// Long enough for anything a test waits for.
const PATIENCE: Duration = Duration::from_secs(5);

/// A browser that opened a page.
#[derive(Clone, Debug)]
pub struct Browser {
    address: SocketAddr,
    path: String,
    /// The cookie as `name=value`.
    pub cookie: String,
}

impl Browser {
    /// Opens the page of a path for the first time.
    pub async fn open(address: SocketAddr, path: &str) -> Self {
        let page = get(address, &format!("/chat/{path}"), &[]).await;
        assert_eq!(page.status, 200, "the page opens");
        let cookie = page.header("set-cookie").and_then(|cookie| cookie.split(';').next());
        let cookie = cookie.expect("a new visitor gets a cookie").to_owned();
        Self { address, path: path.to_owned(), cookie }
    }

    /// Returns the visitor's id, which is also the id of their chat.
    pub fn visitor(&self) -> &str {
        let value = self.cookie.split('=').nth(1).and_then(|value| value.split('.').next());
        value.expect("a cookie names its visitor")
    }

    /// Loads the page again.
    pub async fn load(&self) -> Answered {
        get(self.address, &format!("/chat/{}", self.path), &[("cookie", &self.cookie)]).await
    }

    /// Writes a message as the script does. Returns the status and the body.
    pub async fn says(&self, nonce: &str, text: &str) -> (u16, Value) {
        let answered = self.posts(&json!({ "nonce": nonce, "text": text })).await;
        let (_, body) = answered.text.split_once("\r\n\r\n").expect("an answer");
        (answered.status, serde_json::from_str(body).unwrap_or_default())
    }

    /// Posts any body as the script does.
    pub async fn posts(&self, body: &Value) -> Answered {
        let headers = [
            ("cookie", self.cookie.as_str()),
            ("content-type", "application/json"),
            ("sec-fetch-site", "same-origin"),
        ];
        self.posts_with(&headers, body.to_string().as_bytes()).await
    }

    /// Posts any body with any headers.
    pub async fn posts_with(&self, headers: &[(&str, &str)], body: &[u8]) -> Answered {
        post(self.address, &format!("/chat/{}/messages", self.path), headers, body).await
    }

    /// Opens the stream of a page that shows lines up to `after`. An error is the status of the refusal.
    pub async fn listens(&self, after: i64) -> Result<Stream, u16> {
        self.listens_with(&format!("?after={after}"), &[]).await
    }

    /// Opens the stream again after a disconnect, as a browser does.
    pub async fn resumes(&self, last_event_id: &str) -> Result<Stream, u16> {
        self.listens_with("?after=0", &[("last-event-id", last_event_id)]).await
    }

    /// Opens the stream with this query string and these headers. An error is the status of the response.
    pub async fn listens_with(&self, query: &str, more: &[(&str, &str)]) -> Result<Stream, u16> {
        let mut headers = vec![("cookie", self.cookie.as_str())];
        headers.extend(more);
        let path = format!("/chat/{}/events{query}", self.path);
        let mut socket = TcpStream::connect(self.address).await.expect("the desk listens");
        let head = get_head(&path, &headers);
        socket.write_all(head.as_bytes()).await.expect("the head is taken");
        let mut lines = BufReader::new(socket);
        let mut first = String::new();
        lines.read_line(&mut first).await.expect("a status line");
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        if status == 200 { Ok(Stream { lines }) } else { Err(status) }
    }
}

/// An open stream.
#[derive(Debug)]
pub struct Stream {
    lines: BufReader<TcpStream>,
}

impl Stream {
    /// Returns id and data of the next event of a kind, or `None` after a timeout or at the end of the stream.
    pub async fn hear(&mut self, kind: &str) -> Option<(String, Value)> {
        self.hear_within(kind, PATIENCE).await
    }

    /// Returns the next event of a kind within a time.
    pub async fn hear_within(&mut self, kind: &str, span: Duration) -> Option<(String, Value)> {
        timeout(span, self.next(kind)).await.ok().flatten()
    }

    async fn next(&mut self, kind: &str) -> Option<(String, Value)> {
        let (mut id, mut event) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("id: ") {
                text.clone_into(&mut id);
            } else if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut event);
            } else if let Some(data) = line.strip_prefix("data: ").filter(|_| event == kind) {
                return Some((id, serde_json::from_str(data).unwrap_or_default()));
            }
        }
    }
}
