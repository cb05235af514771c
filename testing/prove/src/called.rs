//! Serves the URLs that the desk calls, one request per connection.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::gateway::wire::head_end;

/// Maximum length of a request: that of a posted entry, and its head.
const REQUEST_BYTES_MAX: usize = 2 << 20;

const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";

/// A request of the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TargetCall {
    head: String,
    /// The body.
    pub(crate) body: Vec<u8>,
}

impl TargetCall {
    /// Reads a whole request. Returns `None` if it is incomplete or none.
    pub(crate) async fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        while bytes.len() < REQUEST_BYTES_MAX {
            if !matches!(stream.read_buf(&mut bytes).await, Ok(1..)) {
                return None;
            }
            if let Some(called) = Self::whole(&bytes) {
                return Some(called);
            }
        }
        None
    }

    /// Parses a request, if it is complete.
    fn whole(bytes: &[u8]) -> Option<Self> {
        let end = head_end(bytes)?;
        let called =
            Self { head: String::from_utf8_lossy(&bytes[..end]).into_owned(), body: vec![] };
        let length = called.header("content-length").map_or(Some(0), |text| text.parse().ok())?;
        let body = bytes[end..].get(..length)?.to_vec();
        Some(Self { body, ..called })
    }

    /// Returns the path that was called.
    pub(crate) fn path(&self) -> Option<&str> {
        self.head.lines().next()?.split(' ').nth(1)
    }

    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(':'));
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// Reads a call. Returns the path that was called, or `None` if the request is incomplete or not a call.
pub(crate) async fn path(stream: &mut TcpStream) -> Option<String> {
    TargetCall::read(stream).await?.path().map(str::to_owned)
}

/// Answers a call.
pub(crate) async fn answer(mut stream: TcpStream) {
    // The caller may have closed the connection.
    stream.write_all(ANSWER).await.ok();
}

/// Answers a call with a status and a text.
pub(crate) async fn answer_with(stream: &mut TcpStream, status: u16, text: &str) {
    let answer = format!(
        "HTTP/1.1 {status} .\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{text}",
        text.len()
    );
    // The caller may have closed the connection.
    stream.write_all(answer.as_bytes()).await.ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_which_path_is_called() {
        let cases = [
            ("a call", "POST /wake/17 HTTP/1.1\r\nhost: x\r\n\r\n", Some("/wake/17")),
            ("not a request", "\x16\x03\x01", None),
            ("nothing", "", None),
        ];
        for (name, request, want) in cases {
            let called = TargetCall::whole(request.as_bytes());
            assert_eq!(called.as_ref().and_then(TargetCall::path), want, "{name}");
        }
    }

    #[test]
    fn a_request_is_read_once_it_is_whole() {
        let request = b"POST /post/1 HTTP/1.1\r\nWebhook-Id: e1\r\ncontent-length: 2\r\n\r\n{}";

        let called = TargetCall::whole(request).expect("it is whole");
        assert_eq!((called.header("webhook-id"), &*called.body), (Some("e1"), &b"{}"[..]));
        assert_eq!(TargetCall::whole(&request[..request.len() - 1]), None);
    }
}
