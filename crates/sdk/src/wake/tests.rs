use futures_util::future::join_all;
use futures_util::poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::*;
use crate::limits::{CALL_BYTES_MAX, CALL_HEADERS_MAX, CALL_WAIT, CALLERS_MAX};

const SECRET: &str = "canary-0123456789";

async fn listener() -> Listener {
    Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0)), SECRET).await.unwrap()
}

/// Opens a connection and sends a text.
async fn caller(listener: &Listener, words: &str) -> TcpStream {
    let mut stream = TcpStream::connect(listener.address()).await.unwrap();
    stream.write_all(words.as_bytes()).await.unwrap();
    stream
}

/// Returns everything that is received until the connection is closed. A listener at its limit may hang up early.
async fn answer(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8(answer).unwrap()
}

async fn call(listener: &Listener, request: &str) -> String {
    let answer = answer(caller(listener, request).await).await;
    answer.split("\r\n").next().unwrap_or_default().to_owned()
}

fn good() -> String {
    format!("GET /wake/{SECRET} HTTP/1.1\r\nhost: agent\r\n\r\n")
}

async fn is_woken(listener: &Listener) -> bool {
    poll!(Box::pin(listener.woken())).is_ready()
}

#[tokio::test]
async fn a_call_is_answered_at_once_and_kept_until_somebody_waits() {
    let listener = listener().await;

    assert_eq!(call(&listener, &good()).await, "HTTP/1.1 204 No Content");
    listener.woken().await;
    assert!(!is_woken(&listener).await, "one call is one wake");
}

#[tokio::test]
async fn a_burst_of_calls_is_one_wake() {
    let listener = listener().await;
    let good = good();
    let calls = join_all((0..CALLERS_MAX).map(|_| call(&listener, &good))).await;

    assert_eq!(calls, vec!["HTTP/1.1 204 No Content"; CALLERS_MAX]);
    listener.woken().await;
    assert!(!is_woken(&listener).await);
}

#[tokio::test]
async fn nothing_else_is_found_and_nobody_is_woken() {
    let listener = listener().await;
    let asked = |line: &str| format!("{line} HTTP/1.1\r\nhost: agent\r\n\r\n");
    let with = |headers: String| good().replace("host: agent\r\n", &headers);
    let many = "a: b\r\n".repeat(CALL_HEADERS_MAX + 1);
    let cases = [
        ("another secret", asked("GET /wake/canary-0123456780"), "404"),
        ("half of it", asked("GET /wake/canary-012345678"), "404"),
        ("more than it", asked(&format!("GET /wake/{SECRET}/")), "404"),
        ("none", asked("GET /wake/"), "404"),
        ("another place", asked("GET /"), "404"),
        ("another method", asked(&format!("POST /wake/{SECRET}")), "404"),
        ("only the head", asked(&format!("HEAD /wake/{SECRET}")), "404"),
        ("too long", with(format!("a: {}\r\n", "a".repeat(CALL_BYTES_MAX))), "431"),
        ("too many headers", with(many), "431"),
        ("noise", "\0\u{1}noise\r\n\r\n".to_owned(), "400"),
    ];
    for (name, request, want) in cases {
        let answer = call(&listener, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {want}")), "{name}: {answer}");
    }
    assert!(!is_woken(&listener).await);
    assert_eq!(call(&listener, &good()).await, "HTTP/1.1 204 No Content", "it still listens");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_come_to_the_point_is_cut_off() {
    let listener = listener().await;
    let began = Instant::now();
    let slow = caller(&listener, "GET /wake/").await;

    assert_eq!(answer(slow).await, "");
    assert!(began.elapsed() >= CALL_WAIT && began.elapsed() < CALL_WAIT * 2);
}

#[tokio::test]
async fn many_slow_callers_keep_nobody_out() {
    let listener = listener().await;
    let mut slow = Vec::new();
    for _ in 0..CALLERS_MAX {
        slow.push(caller(&listener, "GET /wake/").await);
    }

    assert_eq!(call(&listener, &good()).await, "HTTP/1.1 204 No Content");
    assert_eq!(answer(slow.remove(0)).await, "", "the oldest gave way");
    let mut next = slow.remove(0);
    next.write_all(good().trim_start_matches("GET /wake/").as_bytes()).await.unwrap();
    assert!(answer(next).await.starts_with("HTTP/1.1 204"), "and nobody else");
}

#[tokio::test]
async fn a_listener_shows_no_secret_and_needs_a_good_one() {
    let listener = listener().await;
    assert!(!format!("{listener:?}").contains(SECRET));

    let short = Listener::bind(listener.address(), "short").await;
    assert!(matches!(short, Err(BindError::Secret)));
    let taken = Listener::bind(listener.address(), SECRET).await;
    assert!(matches!(taken, Err(BindError::Address(..))));
}

#[test]
fn a_secret_is_long_enough_and_fit_for_a_url() {
    let cases = [
        ("too short", "a".repeat(WAKE_SECRET_CHARS_MIN - 1), false),
        ("short", "a".repeat(WAKE_SECRET_CHARS_MIN), true),
        ("long", "-".repeat(WAKE_SECRET_CHARS_MAX), true),
        ("too long", "_".repeat(WAKE_SECRET_CHARS_MAX + 1), false),
        ("a slash", "0123456789abcdef/".to_owned(), false),
        ("a letter of no URL", "0123456789abcdef\u{e9}".to_owned(), false),
    ];
    for (name, secret, want) in cases {
        assert_eq!(is_fit(&secret), want, "{name}");
    }
}
