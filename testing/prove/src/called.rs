//! Serves wake URLs, one call per connection.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const REQUEST_BYTES_MAX: usize = 16 * 1024;

const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";

/// Reads a call. Returns the path that was called, or `None` if the request is incomplete or not a call.
pub(crate) async fn path(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST_BYTES_MAX {
        if !matches!(stream.read_buf(&mut request).await, Ok(1..)) {
            return None;
        }
    }
    path_in(&request)
}

/// Answers a call.
pub(crate) async fn answer(mut stream: TcpStream) {
    // The caller may have closed the connection.
    stream.write_all(ANSWER).await.ok();
}

fn path_in(request: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(request.split(|byte| *byte == b'\r').next()?).ok()?;
    line.split(' ').nth(1).map(str::to_owned)
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
            assert_eq!(path_in(request.as_bytes()).as_deref(), want, "{name}");
        }
    }
}
