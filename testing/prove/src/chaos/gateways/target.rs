//! Targets: where wake calls go, and where none may go.

use std::net::SocketAddr;
use std::sync::Arc;

use nightdesk_judge::Event;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Hall;
use crate::chaos::plan::Plan;

const REQUEST_BYTES_MAX: usize = 16 * 1024;

const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";

/// Where an agent is called: `/wake/17`.
const WAKE: &str = "/wake/";

/// Notes every call. A path that is no agent's is a honeypot.
pub(super) async fn listen(hall: Arc<Hall>, address: SocketAddr) {
    // Without it nobody is woken, and the judge says so.
    let Ok(listener) = TcpListener::bind(address).await else { return };
    let mut calls = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        calls.spawn(called(Arc::clone(&hall), stream));
    }
}

async fn called(hall: Arc<Hall>, mut stream: TcpStream) {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST_BYTES_MAX {
        // A node that dies here has not said whom it calls.
        if !matches!(stream.read_buf(&mut request).await, Ok(1..)) {
            return;
        }
    }
    if let Some(member) = member(&request).filter(|member| *member < hall.woken.len()) {
        hall.notes.note(Event::WakeRecv { agent: Plan::agent(member) });
        hall.woken[member].notify_one();
    } else {
        let address = stream.local_addr().map_or_else(|_| String::new(), |at| at.to_string());
        hall.notes.note(Event::Honeypot { address });
    }
    // Whoever called may have hung up.
    stream.write_all(ANSWER).await.ok();
}

/// Whose target was called.
fn member(request: &[u8]) -> Option<usize> {
    let line = std::str::from_utf8(request.split(|byte| *byte == b'\r').next()?).ok()?;
    line.split(' ').nth(1)?.strip_prefix(WAKE)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_who_is_called() {
        let cases = [
            ("a call", "POST /wake/17 HTTP/1.1\r\nhost: x\r\n\r\n", Some(17)),
            ("nobody's path", "GET /latest/meta-data HTTP/1.1\r\n\r\n", None),
            ("not a request", "\x16\x03\x01", None),
        ];
        for (name, request, want) in cases {
            assert_eq!(member(request.as_bytes()), want, "{name}");
        }
    }
}
