//! Requests a WebSocket upgrade without tungstenite's handshake.
//!
//! Tungstenite could do it too, but writes the whole request to the log on its finest level, and with it the token.

use std::io;

use nightdesk_protocol::Secret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::http::Uri;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::socket::{AgentSocket, Connection, bounds};
use crate::status::Trouble;

/// Maximum length of the response to an upgrade, without a body.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Requests a WebSocket over this connection.
pub(crate) async fn request_upgrade(
    mut connection: Box<dyn Connection>,
    url: &Uri,
    token: &Secret,
) -> Result<AgentSocket, Trouble> {
    let key = generate_key();
    connection.write_all(request(url, token, &key).as_bytes()).await.map_err(broken_handshake)?;
    connection.flush().await.map_err(broken_handshake)?;
    let (head, rest) = read_head(&mut connection).await.map_err(broken_handshake)?;
    check(&head, &key)?;
    let config = Some(bounds());
    let stream = WebSocketStream::from_partially_read(connection, rest, Role::Client, config).await;
    Ok(AgentSocket::new(stream))
}

fn request(url: &Uri, token: &Secret, key: &str) -> String {
    let host = url.authority().map_or("", |authority| authority.as_str());
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\
         User-Agent: {name}/{version}\r\nAuthorization: Bearer {token}\r\n\r\n",
        path = url.path(),
        name = env!("CARGO_PKG_NAME"),
        version = env!("CARGO_PKG_VERSION"),
        token = token.expose(),
    )
}

/// Reads the head of the response, and the bytes that arrived with it.
async fn read_head(connection: &mut Box<dyn Connection>) -> io::Result<(String, Vec<u8>)> {
    const END: &[u8] = b"\r\n\r\n";
    let mut read = Vec::new();
    loop {
        if let Some(end) = read.windows(END.len()).position(|bytes| bytes == END) {
            let rest = read.split_off(end + END.len());
            return Ok((String::from_utf8_lossy(&read).into_owned(), rest));
        }
        if read.len() >= HEAD_BYTES_MAX {
            return Err(io::Error::other("the response to the upgrade is too long"));
        }
        if connection.read_buf(&mut read).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Checks that the response accepts this request.
fn check(head: &str, key: &str) -> Result<(), Trouble> {
    let mut lines = head.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status = status_line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    match status.and_then(|status| status.parse().ok()) {
        Some(101) => {}
        Some(status) => return Err(Trouble::Refused { status }),
        None => return Err(Trouble::Unreachable("the response is not HTTP".to_owned())),
    }
    let accepted = lines.filter_map(|line| line.split_once(':')).any(|(name, value)| {
        name.eq_ignore_ascii_case("sec-websocket-accept")
            && value.trim() == derive_accept_key(key.as_bytes())
    });
    let other = || Trouble::Unreachable("the response is not a WebSocket upgrade".to_owned());
    if accepted { Ok(()) } else { Err(other()) }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn broken_handshake(error: io::Error) -> Trouble {
    Trouble::Unreachable(error.to_string())
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;
    use crate::socket::SocketEvent;

    #[test]
    fn only_the_answer_to_our_key_opens_a_line() {
        let accept = derive_accept_key(b"key");
        let no_http = Trouble::Unreachable("the response is not HTTP".to_owned());
        let no_socket = Trouble::Unreachable("the response is not a WebSocket upgrade".to_owned());
        let switching = |accept: &str| {
            format!("HTTP/1.1 101 Switching Protocols\r\nsec-websocket-ACCEPT: {accept}\r\n\r\n")
        };
        let cases = [
            ("ours", switching(&accept), Ok(())),
            ("another's", switching("another"), Err(no_socket.clone())),
            ("no key", "HTTP/1.1 101 \r\n\r\n".to_owned(), Err(no_socket)),
            (
                "refused",
                "HTTP/1.1 401 No\r\n\r\n".to_owned(),
                Err(Trouble::Refused { status: 401 }),
            ),
            ("no HTTP", "SSH-2.0-x\r\n\r\n".to_owned(), Err(no_http.clone())),
            ("nothing", String::new(), Err(no_http)),
        ];
        for (name, head, want) in cases {
            assert_eq!(check(&head, "key"), want, "{name}");
        }
    }

    #[tokio::test]
    async fn what_comes_right_behind_the_head_is_kept() {
        let (near, far) = duplex(4_096);
        let mut desk: Box<dyn Connection> = Box::new(far);
        let answer = async {
            let (request, _) = read_head(&mut desk).await.unwrap();
            let key = request.split("Sec-WebSocket-Key: ").nth(1).unwrap();
            let accept = derive_accept_key(key.split("\r\n").next().unwrap().as_bytes());
            let head = format!("HTTP/1.1 101 x\r\nSec-WebSocket-Accept: {accept}\r\n\r\n");
            let frame: &[u8] = b"\x81\x02hi";
            desk.write_all(&[head.as_bytes(), frame].concat()).await.unwrap();
        };
        let (url, token) = (Uri::from_static("ws://desk/relay"), Secret::new("token"));

        let (socket, ()) = tokio::join!(request_upgrade(Box::new(near), &url, &token), answer);
        let heard = socket.unwrap().next_event().await;
        assert!(matches!(&heard, SocketEvent::Text(text) if text.as_ref() == b"hi"), "{heard:?}");
    }

    #[tokio::test]
    async fn a_head_has_a_limit() {
        let (mut near, far) = duplex(2 * HEAD_BYTES_MAX);
        near.write_all(&vec![b'x'; 2 * HEAD_BYTES_MAX]).await.unwrap();
        let mut far: Box<dyn Connection> = Box::new(far);

        assert!(read_head(&mut far).await.is_err());
    }
}
