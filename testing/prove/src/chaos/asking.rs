//! Sends an agent's HTTP requests to a node, and returns the responses.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderMap};
use hyper::{Method, Request as HttpRequest};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::http;

/// The beginning of an event's content in a stream of events.
const EVENT: &str = "data: ";

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    /// Bearer token.
    pub(super) token: &'a str,
    /// Path of the route.
    pub(super) path: &'a str,
    /// Body of a POST. Without it, the request is a GET.
    pub(super) body: Option<&'a Value>,
    /// Timeout for the response.
    pub(super) wait: Duration,
}

/// The outcome of a request.
#[derive(Debug)]
pub(super) enum Heard {
    /// The connection was refused, so the request was not sent.
    Nobody,
    /// No response, or an incomplete one: the node may execute the request at any time from now on.
    Nothing,
    /// Status and body of the response.
    Answer(u16, Value),
}

/// Sends a request to a node.
pub(super) async fn ask(node: SocketAddr, request: Request<'_>) -> Heard {
    let Ok(Ok(stream)) = timeout(request.wait, TcpStream::connect(node)).await else {
        return Heard::Nobody;
    };
    let said = timeout(request.wait, said(stream, node, request)).await;
    said.ok()
        .and_then(Result::ok)
        .map_or(Heard::Nothing, |(status, body)| Heard::Answer(status, body))
}

/// Makes one exchange, on a connection of its own.
async fn said(
    stream: TcpStream,
    node: SocketAddr,
    Request { token, path, body, .. }: Request<'_>,
) -> Result<(u16, Value)> {
    let request = HttpRequest::builder()
        .method(if body.is_some() { Method::POST } else { Method::GET })
        .uri(path)
        .header(HOST, node.to_string())
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header(CONNECTION, "close")
        .body(Full::new(Bytes::from(body.map(Value::to_string).unwrap_or_default())))?;
    http::exchange(stream, request, async |response| {
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok((head.status.as_u16(), read_json(&head.headers, &body)))
    })
    .await
}

/// Returns the JSON of a response: of a stream of events, the last one is the response.
fn read_json(headers: &HeaderMap, body: &[u8]) -> Value {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("text/event-stream") {
        return serde_json::from_slice(body).unwrap_or_default();
    }
    let text = std::str::from_utf8(body).unwrap_or_default();
    let last = text.lines().filter_map(|line| line.strip_prefix(EVENT)).next_back();
    serde_json::from_str(last.unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_response_is_json_or_the_last_event_of_a_stream() {
        let cases = [
            ("application/json", r#"{"a":1}"#, json!({ "a": 1 })),
            ("text/event-stream", "data: {\"a\":1}\n\ndata: {\"a\":2}\n\n", json!({ "a": 2 })),
            ("text/event-stream", ": no event\n\n", Value::Null),
            ("application/json", "", Value::Null),
        ];
        for (kind, body, want) in cases {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]);
            assert_eq!(read_json(&headers, body.as_bytes()), want, "{kind} {body}");
        }
    }
}
