//! Z21: for any bytes on a connection, each request that reaches a route begins where the previous one ended for a
//! strict reader of HTTP/1.1, and has the body that this reader sees. So no request can hide another.

use std::future::pending;
use std::io::{self, Cursor};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::body::to_bytes;
use axum::extract::Request;
use http::{StatusCode, header};
use nightdesk_api::{Listener, Router, serve};
use tokio::io::{Join, Sink, join, sink};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Longest body that the route reads.
const BODY_BYTES_MAX: usize = 1 << 20;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

/// The input is everything that a client sends on one connection.
pub(super) fn run(data: &[u8]) {
    let requests = RUNTIME.block_on(serve_bytes(data.to_vec()));
    let mut reader = ReferenceReader { bytes: data, at: 0 };
    for (number, request) in requests.iter().enumerate() {
        let is_last = number + 1 == requests.len();
        reader.compare(request, is_last);
    }
}

/// A request as a route sees it.
#[derive(Debug)]
struct RoutedRequest {
    method: String,
    has_encoding: bool,
    /// `None` if the body did not arrive whole.
    body: Option<Vec<u8>>,
}

/// Serves one connection with the desk's own listener, and returns the requests that reached the route.
async fn serve_bytes(bytes: Vec<u8>) -> Vec<RoutedRequest> {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    let routes = Router::new().fallback(move |request| record(request, Arc::clone(&seen)));
    let (served, drain) = (Arc::new(Notify::new()), CancellationToken::new());
    let stream = Mutex::new(Some(join(Cursor::new(bytes), sink())));
    let listener = OneConnection { stream, served: Arc::clone(&served) };
    let connections = TaskTracker::new();
    let serving = tokio::spawn(serve(listener, routes, connections.clone(), drain.clone()));
    served.notified().await;
    connections.close();
    connections.wait().await;
    drain.cancel();
    serving.await.expect("the listener stops");
    std::mem::take(&mut *requests.lock().unwrap_or_else(PoisonError::into_inner))
}

async fn record(request: Request, seen: Arc<Mutex<Vec<RoutedRequest>>>) -> StatusCode {
    let method = request.method().to_string();
    let has_encoding = request.headers().contains_key(header::TRANSFER_ENCODING);
    let body = to_bytes(request.into_body(), BODY_BYTES_MAX).await.ok().map(Vec::from);
    let request = RoutedRequest { method, has_encoding, body };
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    StatusCode::NOT_FOUND
}

/// A listener with one connection.
struct OneConnection {
    stream: Mutex<Option<Join<Cursor<Vec<u8>>, Sink>>>,
    /// Notified when the connection has its task.
    served: Arc<Notify>,
}

impl Listener for OneConnection {
    type Stream = Join<Cursor<Vec<u8>>, Sink>;

    async fn next(&self) -> io::Result<(Self::Stream, SocketAddr)> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(stream) = stream {
            return Ok((stream, SocketAddr::from(([127, 0, 0, 1], 1))));
        }
        self.served.notify_one();
        pending().await
    }
}

/// A strict reader of the bytes of a connection.
struct ReferenceReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl ReferenceReader<'_> {
    /// Compares the next request with the one that the route saw.
    fn compare(&mut self, request: &RoutedRequest, is_last: bool) {
        let head = self.read_head();
        let first = head.first().map(Vec::as_slice).unwrap_or_default();
        let method = first.split(|byte| *byte == b' ').next().unwrap_or_default();
        assert_eq!(method, request.method.as_bytes(), "{request:?} begins elsewhere");
        let encodings = header_values(&head, b"transfer-encoding");
        assert_eq!(request.has_encoding, !encodings.is_empty(), "{request:?}");
        if request.has_encoding {
            assert!(is_last, "a request follows one with an encoding");
            return;
        }
        let rest = &self.bytes[self.at..];
        let length = body_length(&header_values(&head, b"content-length"));
        let body = rest.get(..length);
        assert!(request.body.as_deref() == body, "another body than {length} bytes: {request:?}");
        assert!(body.is_some() || is_last, "a request follows a body that is cut off");
        self.at += length.min(rest.len());
    }

    /// Reads the lines of a head, and moves to its end.
    fn read_head(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        loop {
            let rest = &self.bytes[self.at..];
            let end = rest.iter().position(|byte| *byte == b'\n');
            let end = end.expect("a request that is routed has a whole head");
            let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
            self.at += end + 1;
            match (line.is_empty(), lines.is_empty()) {
                // Empty lines before a request are skipped.
                (true, true) => {}
                (true, false) => return lines,
                (false, _) => lines.push(line.to_vec()),
            }
        }
    }
}

fn header_values(head: &[Vec<u8>], name: &[u8]) -> Vec<Vec<u8>> {
    let lines = head.iter().skip(1).filter_map(|line| {
        assert!(!line.starts_with(b" ") && !line.starts_with(b"\t"), "a folded header is routed");
        let colon = line.iter().position(|byte| *byte == b':');
        let (key, value) = line.split_at(colon.expect("a header without a colon is routed"));
        key.eq_ignore_ascii_case(name).then(|| value[1..].trim_ascii().to_vec())
    });
    lines.collect()
}

/// Returns the length of a body. Lengths that differ, and lengths that are no plain number, are never routed.
fn body_length(values: &[Vec<u8>]) -> usize {
    let Some(first) = values.first() else { return 0 };
    assert!(values.iter().all(|value| value == first), "two lengths are routed");
    let is_plain = !first.is_empty() && first.iter().all(u8::is_ascii_digit);
    assert!(is_plain, "the length {:?} is routed", String::from_utf8_lossy(first));
    let digits = String::from_utf8_lossy(first);
    digits.parse().expect("a length past all numbers is routed")
}
