//! Makes plain HTTP requests without a library, so that a test can also make an invalid one.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The response.
#[derive(Debug)]
pub struct Answered {
    /// The status.
    pub status: u16,
    /// The whole response, head and body.
    pub text: String,
}

impl Answered {
    /// Returns the body as JSON, or null.
    pub fn json(&self) -> serde_json::Value {
        let body = self.text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).unwrap_or_default()
    }

    /// Returns the value of a header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (head, _) = self.text.split_once("\r\n\r\n")?;
        head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Posts a body.
pub async fn post(
    address: SocketAddr,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answered {
    request(address, ("POST", path), headers, body).await
}

/// Makes a request with a body.
pub async fn request(
    address: SocketAddr,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answered {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: desk\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &[name, ": ", value, "\r\n"].concat();
    }
    head += &["content-length: ", &body.len().to_string(), "\r\n\r\n"].concat();
    exchange(address, head.as_bytes(), body).await
}

/// Gets a page.
pub async fn get(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Answered {
    exchange(address, get_head(path, headers).as_bytes(), b"").await
}

/// Returns the head of a GET request.
pub(super) fn get_head(path: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("GET {path} HTTP/1.1\r\nhost: desk\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &[name, ": ", value, "\r\n"].concat();
    }
    head + "\r\n"
}

/// Sends bytes and reads the response until the desk closes the connection.
pub(super) async fn exchange(address: SocketAddr, head: &[u8], body: &[u8]) -> Answered {
    let mut stream = TcpStream::connect(address).await.expect("the desk listens");
    stream.write_all(head).await.expect("the head is taken");
    // A body that is refused early may not be read to its end.
    drop(stream.write_all(body).await);
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer).await);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answered { status, text }
}
