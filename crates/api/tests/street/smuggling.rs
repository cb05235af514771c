//! T56: requests that a proxy and the desk might delimit differently. The desk refuses them, or closes the connection
//! before it reads the bytes that a proxy may take for another request.

use std::net::SocketAddr;
use std::time::Duration;

use nightdesk_testdesk::TestDesk;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The request that an attacker hides in another one.
const HIDDEN: &str = "GET /healthz HTTP/1.1\r\nhost: desk\r\nx-hidden: yes\r\n\r\n";

/// The header of a body in chunks.
const CHUNKED: &str = "transfer-encoding: chunked\r\n";

/// The time in which the desk would answer a hidden request.
const QUIET: Duration = Duration::from_millis(300);

/// A request, and the response that a strict reader gives to all of its bytes.
struct Case {
    name: &'static str,
    sent: String,
    want: Want,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    /// One response with an error, or none, and the connection is closed.
    Refused,
    /// Exactly one response, and the connection is closed.
    OneThenClosed,
    /// Exactly one response.
    One,
    /// Two responses, since there are two requests for every reader.
    Two,
}

/// A post to a path of no bot, with these header lines and this body.
fn post(headers: &str, body: &str) -> String {
    format!("POST /hooks/nobody HTTP/1.1\r\nhost: desk\r\n{headers}\r\n{body}")
}

/// A post whose body ends with its first chunk, followed by the hidden request.
fn chunked(headers: &str) -> String {
    post(headers, &format!("0\r\n\r\n{HIDDEN}"))
}

/// A post without a body for most readers, followed by the hidden request.
fn bare(headers: &str) -> String {
    post(headers, HIDDEN)
}

/// A post in chunks that begins with this body, followed by the hidden request.
fn chunks(body: &str) -> String {
    post(CHUNKED, &format!("{body}{HIDDEN}"))
}

fn encodings() -> Vec<Case> {
    let length = format!("content-length: {}\r\n", 5 + HIDDEN.len());
    let (length_first, length_last) = (format!("{length}{CHUNKED}"), format!("{CHUNKED}{length}"));
    let doubled = format!("{CHUNKED}transfer-encoding: x\r\n");
    let old = chunked(CHUNKED).replacen("HTTP/1.1", "HTTP/1.0", 1);
    vec![
        closed("CL.TE", chunked(&length_first)),
        closed("TE.CL", chunked(&length_last)),
        closed("chunks", chunked(CHUNKED)),
        closed("a list", chunked("transfer-encoding: identity, chunked\r\n")),
        closed("a hidden encoding", chunked(&format!("x: y\n{CHUNKED}"))),
        refused("chunked first", chunked("transfer-encoding: chunked, identity\r\n")),
        refused("an unknown encoding", chunked("transfer-encoding: xchunked\r\n")),
        refused("TE.TE", chunked(&doubled)),
        refused("a quoted encoding", chunked("transfer-encoding: \"chunked\"\r\n")),
        refused("a tab in the encoding", chunked("transfer-encoding: chun\tked\r\n")),
        refused("a vertical tab", chunked("transfer-encoding: \u{b}chunked\r\n")),
        refused("a space before the colon", chunked("transfer-encoding : chunked\r\n")),
        refused("a folded header", chunked(&format!("x: y\r\n {CHUNKED}"))),
        refused("a return alone", chunked(&format!("x: y\r{CHUNKED}"))),
        refused("chunks in HTTP/1.0", old),
        closed("a bad chunk size", chunks("zz\r\n\r\n")),
        closed("a chunk size past all numbers", chunks("ffffffffffffffffff\r\n\r\n")),
        closed("a chunk size with a sign", chunks("+0\r\n\r\n")),
        closed("a chunk extension", chunks("0;a=b\r\n\r\n")),
        closed("a newline in an extension", chunks("2;\nxx\r\n0\r\n\r\n")),
        closed("a trailer", chunks("0\r\ncontent-length: 5\r\n\r\n")),
    ]
}

fn lengths() -> Vec<Case> {
    let (whole, hidden) = (HIDDEN.len(), "content-length: 0\r\nx: y\ncontent-length: 9\r\n");
    vec![
        one("a body by its length", bare(&format!("content-length: {whole}\r\n"))),
        refused("a hidden length", bare(hidden)),
        refused("two lengths", bare("content-length: 0\r\ncontent-length: 5\r\n")),
        refused("lengths in a list", bare("content-length: 0, 5\r\n")),
        refused("a length twice in a list", bare("content-length: 0, 0\r\n")),
        refused("a length with a sign", bare("content-length: +0\r\n")),
        refused("a length below zero", bare("content-length: -1\r\n")),
        refused("a length in hex", bare("content-length: 0x0\r\n")),
        refused("a length with a space", bare("content-length: 1 0\r\n")),
        refused("no length", bare("content-length:\r\n")),
        refused("a length past all numbers", bare("content-length: 18446744073709551616\r\n")),
        refused("a null byte", bare("x: y\0\r\n")),
        refused("a header without a name", bare(": chunked\r\n")),
        refused("a header without a colon", bare("content-length\r\n")),
    ]
}

fn forms() -> Vec<Case> {
    let get = |line: &str, headers: &str| format!("{line}\r\nhost: desk\r\n{headers}\r\n");
    let with_body = format!("content-length: {}\r\n", HIDDEN.len());
    let upgrade = "connection: upgrade\r\nupgrade: h2c\r\n";
    vec![
        Case { name: "two requests", sent: format!("{HIDDEN}{HIDDEN}"), want: Want::Two },
        one("the absolute form", get("GET http://other/healthz HTTP/1.1", "")),
        one("an upgrade to HTTP/2", get("GET /healthz HTTP/1.1", upgrade)),
        one("a body of a GET", get("GET /healthz HTTP/1.1", &with_body) + HIDDEN),
        one("a tunnel", get("CONNECT desk:80 HTTP/1.1", &with_body) + HIDDEN),
        refused("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        refused("no version", format!("GET /healthz\r\n\r\n{HIDDEN}")),
        refused("another version", get("GET /healthz HTTP/1.2", "") + HIDDEN),
        refused("a space in the target", get("GET /healthz x HTTP/1.1", "") + HIDDEN),
        refused("a folded first header", "GET /healthz HTTP/1.1\r\n host: desk\r\n\r\n".to_owned()),
    ]
}

const fn refused(name: &'static str, sent: String) -> Case {
    Case { name, sent, want: Want::Refused }
}

const fn closed(name: &'static str, sent: String) -> Case {
    Case { name, sent, want: Want::OneThenClosed }
}

const fn one(name: &'static str, sent: String) -> Case {
    Case { name, sent, want: Want::One }
}

/// The statuses of all responses on a connection, and whether the desk closed it.
struct Seen {
    statuses: Vec<u16>,
    is_closed: bool,
}

async fn send(address: SocketAddr, request: &str) -> Seen {
    let mut stream = TcpStream::connect(address).await.expect("the desk listens");
    // The desk may close before it has read everything.
    drop(stream.write_all(request.as_bytes()).await);
    let (mut response, mut is_closed) = (Vec::new(), false);
    while let Ok(read) = timeout(QUIET, stream.read_buf(&mut response)).await {
        if read.is_err() || read.is_ok_and(|bytes| bytes == 0) {
            is_closed = true;
            break;
        }
    }
    let text = String::from_utf8_lossy(&response);
    let heads = text.match_indices("HTTP/1.").map(|(at, _)| &text[at..]);
    let statuses = heads.filter_map(|head| head.get(9..12)?.parse().ok()).collect();
    Seen { statuses, is_closed }
}

impl Want {
    fn is_met(self, seen: &Seen) -> bool {
        let refused = seen.statuses.iter().all(|status| (400..=505).contains(status));
        match self {
            Self::Refused => seen.statuses.len() <= 1 && refused && seen.is_closed,
            Self::OneThenClosed => seen.statuses.len() <= 1 && seen.is_closed,
            Self::One => seen.statuses.len() == 1,
            Self::Two => seen.statuses == [200, 200],
        }
    }
}

#[tokio::test]
async fn no_request_hides_another() {
    let desk = TestDesk::open().await;

    let mut wrong = Vec::new();
    for Case { name, sent, want } in [encodings(), lengths(), forms()].into_iter().flatten() {
        let seen = send(desk.address(), &sent).await;
        if !want.is_met(&seen) {
            wrong.push(format!(
                "{name}: {:?}, closed: {}, want {want:?}",
                seen.statuses, seen.is_closed
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
