//! HTTP over the simulated network, with one request per connection.

use std::time::Duration;

use nightdesk_outside::CallResponse;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use turmoil::net::TcpStream;

use crate::world::PORT;

/// Longest request or response that is read.
const BYTES_MAX: usize = 1 << 21;

/// A POST.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpPost<'a> {
    /// The path.
    pub(crate) path: &'a str,
    /// Further headers.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub(crate) body: &'a [u8],
}

/// The reason that a POST has no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoResponse {
    /// There was no connection.
    Unreachable,
    /// The connection broke.
    BrokeOff,
}

/// Posts to a host.
pub(crate) async fn post(host: &str, post: HttpPost<'_>) -> Result<CallResponse, NoResponse> {
    let stream = TcpStream::connect((host, PORT)).await.map_err(|_| NoResponse::Unreachable)?;
    answer(stream, post).await.ok_or(NoResponse::BrokeOff)
}

async fn answer(
    mut stream: TcpStream,
    HttpPost { path, headers, body }: HttpPost<'_>,
) -> Option<CallResponse> {
    let mut head = format!("POST {path} HTTP/1.1\r\n");
    let length = body.len().to_string();
    let own = [("host", "desk"), ("connection", "close"), ("content-length", length.as_str())];
    for (name, value) in own.iter().chain(headers) {
        head.extend([*name, ": ", *value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).await.ok()?;
    let mut bytes = Vec::new();
    // A host that dies during a response has not responded.
    stream.take(BYTES_MAX as u64).read_to_end(&mut bytes).await.ok()?;
    let (head, body) = split(&bytes)?;
    Some(CallResponse {
        status: head.split(' ').nth(1)?.parse().ok()?,
        body: body.to_vec().into(),
        is_json: header(&head, "content-type").is_some_and(|kind| kind.contains("json")),
        retry_after: None,
        took: Duration::ZERO,
    })
}

/// Reads a POST. Returns its head and its body.
pub(crate) async fn read_post(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some((head, body)) = split(&bytes) {
            let length: usize = header(&head, "content-length")?.parse().ok()?;
            if body.len() >= length {
                let body = body[..length].to_vec();
                return Some((head, body));
            }
        }
        if bytes.len() > BYTES_MAX || stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Responds to a POST, with a text.
pub(crate) async fn respond(mut stream: TcpStream, status: u16, text: &str) {
    let response = format!(
        "HTTP/1.1 {status} status\r\ncontent-type: text/plain\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{text}",
        text.len()
    );
    // The other host may be gone.
    stream.write_all(response.as_bytes()).await.ok();
    stream.shutdown().await.ok();
}

/// Returns the head and the body so far, once the head is complete.
fn split(bytes: &[u8]) -> Option<(String, &[u8])> {
    let at = bytes.windows(4).position(|end| end == b"\r\n\r\n")?;
    Some((String::from_utf8_lossy(&bytes[..at]).into_owned(), &bytes[at + 4..]))
}

/// Returns the value of a header.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut headers = head.lines().filter_map(|line| line.split_once(':'));
    headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}
