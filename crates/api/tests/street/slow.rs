//! T10: slow and endless requests. The desk leaves them after their time, and serves others meanwhile.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use nightdesk_testdesk::{TestDesk, TestGateway, get};
use nightdesk_types::limits::WEBHOOK_READ_WAIT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Time in which the desk leaves a head that does not end: the limit of a head, and what a busy machine adds.
const HEAD_LEFT_WITHIN: Duration = Duration::from_secs(9);

/// Pause between two parts of a slow request.
const DRIP: Duration = Duration::from_millis(200);

/// Connections of clients that send a part of a head and no more.
const SLOW_CLIENTS: usize = 3_000;

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("the desk listens")
}

/// Reads until the desk closes the connection, and returns the status, if there is one.
async fn status(stream: &mut TcpStream) -> Option<u16> {
    let mut response = Vec::new();
    while stream.read_buf(&mut response).await.is_ok_and(|bytes| bytes > 0) {}
    String::from_utf8_lossy(&response).get(9..12)?.parse().ok()
}

/// Sends a beginning at once and then one byte after the other, until the desk closes the connection.
async fn drip(address: SocketAddr, beginning: &str, byte: u8) -> (Option<u16>, Duration) {
    let (mut stream, began) = (connect(address).await, Instant::now());
    stream.write_all(beginning.as_bytes()).await.expect("the desk reads");
    let (mut read, mut write) = stream.split();
    let mut response = Vec::new();
    let dripping = async {
        while write.write_all(&[byte]).await.is_ok() {
            sleep(DRIP).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = dripping => {}
        () = async { while read.read_buf(&mut response).await.is_ok_and(|bytes| bytes > 0) {} } => {}
    }
    let status =
        String::from_utf8_lossy(&response).get(9..12).and_then(|status| status.parse().ok());
    (status, began.elapsed())
}

#[tokio::test]
async fn a_request_that_drips_is_left() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let line = "GET /healthz HTTP/1.1\r\nhost: desk\r\n";
    let hook = format!("POST /hooks/{} HTTP/1.1\r\nhost: desk\r\n", ann.path);
    let by_length = format!("{hook}content-length: 100000\r\n\r\n");
    let chunked = format!("{hook}transfer-encoding: chunked\r\n\r\n186A0\r\n");
    let header = format!("{line}x: ");
    let form = "POST /oauth/token HTTP/1.1\r\nhost: desk\r\ncontent-length: 60000\r\n\r\n";

    let (first, value, name, body, chunk, form) = tokio::join!(
        drip(desk.address(), "G", b'E'),
        drip(desk.address(), &header, b'y'),
        drip(desk.address(), line, b'n'),
        drip(desk.address(), &by_length, b'b'),
        drip(desk.address(), &chunked, b'c'),
        drip(desk.address(), form, b'f'),
    );
    for (name, (_, took)) in [("a request line", first), ("a header", value), ("a name", name)] {
        assert!(took < HEAD_LEFT_WITHIN, "{name}: {took:?}");
    }
    let body_within = WEBHOOK_READ_WAIT + Duration::from_secs(4);
    for (name, (status, took)) in [("a body", body), ("a chunk", chunk), ("a form", form)] {
        assert!(took < body_within, "{name}: {took:?}");
        assert_eq!(status, Some(408), "{name}");
    }
}

#[tokio::test]
async fn a_head_has_so_many_headers_and_so_many_bytes() {
    let desk = TestDesk::open().await;
    let head = |headers: String| {
        format!("GET /healthz HTTP/1.1\r\nhost: desk\r\nconnection: close\r\n{headers}\r\n")
    };
    let many = |count: usize| "x: y\r\n".repeat(count);
    let long = |bytes: usize| format!("x: {}\r\n", "y".repeat(bytes));
    let cases = [
        ("some headers", head(many(50)), 200),
        ("too many headers", head(many(65)), 431),
        ("a bomb of headers", head(many(100_000)), 431),
        ("a long header", head(long(8_000)), 200),
        ("too long a header", head(long(20_000)), 431),
        ("an endless header", head(long(10_000_000)), 431),
        ("an endless target", format!("GET /{} HTTP/1.1\r\n\r\n", "y".repeat(10_000_000)), 431),
        ("an endless name", head(format!("{}: y\r\n", "x".repeat(10_000_000))), 431),
    ];
    for (name, sent, want) in cases {
        let mut stream = connect(desk.address()).await;
        // The desk closes before it has read all of an endless head; then its response may be lost.
        let is_read = stream.write_all(sent.as_bytes()).await.is_ok();
        let status = timeout(HEAD_LEFT_WITHIN, status(&mut stream)).await.expect("the desk closes");
        let is_cut = want == 431 && (!is_read || sent.len() > 100_000);
        assert!(status == Some(want) || (is_cut && status.is_none()), "{name}: {status:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_slow_clients_keep_no_other_from_the_desk() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let mut slow = Vec::with_capacity(SLOW_CLIENTS);
    for nth in 0..SLOW_CLIENTS {
        let mut stream = connect(desk.address()).await;
        let part = &"GET /relay HTTP/1.1\r\nhost: desk\r\n"[..=(nth % 30)];
        stream.write_all(part.as_bytes()).await.expect("the desk reads");
        slow.push(stream);
    }

    let began = Instant::now();
    assert_eq!(get(desk.address(), "/healthz", &[]).await.status, 200);
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let line = TestGateway::dial(desk.address(), &ann.name, &ann.secret).await;
    assert!(line.is_ok(), "a gateway dials");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());

    let left = timeout(HEAD_LEFT_WITHIN, join_all(slow.iter_mut().map(status))).await;
    assert!(left.is_ok(), "the desk leaves them all");
}
