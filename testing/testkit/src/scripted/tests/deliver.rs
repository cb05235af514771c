use std::net::SocketAddr;
use std::time::Duration;

use nightdesk_port::ChatInfo;
use nightdesk_types::send::Op;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

pub(super) fn send(op: Op) -> Send {
    Send { chat_id: "c1".to_owned(), op, metadata: serde_json::Map::new() }
}

pub(super) fn hello() -> Send {
    send(Op::Send { content: "hello".to_owned(), reply_to: None })
}

/// Starts a platform that gives this answer to the one call it expects.
pub(super) async fn answering(status: u16, header: &str, body: &str) -> SocketAddr {
    let length = body.len();
    let answer = format!("HTTP/1.1 {status} \r\n{header}content-length: {length}\r\n\r\n{body}");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let call = call(&mut socket).await;
        assert_eq!((&call["bot"], &call["send"]["chat_id"]), (&json!("desk-bot"), &json!("c1")));
        socket.write_all(answer.as_bytes()).await.unwrap();
    });
    address
}

/// Reads the JSON of one request as soon as it is complete.
async fn call(socket: &mut TcpStream) -> Value {
    let mut request = Vec::new();
    loop {
        let read = socket.read_buf(&mut request).await.unwrap();
        assert_ne!(read, 0, "the call broke off");
        let body = request.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4);
        let call = body.and_then(|at| serde_json::from_slice(&request[at..]).ok());
        if let Some(call) = call {
            return call;
        }
    }
}

pub(super) async fn delivered_to(
    address: SocketAddr,
    send: &Send,
) -> Result<Receipt, DeliverError> {
    let bot = bot(json!({ "deliver_url": format!("http://{address}/deliver") }));
    Scripted::new().unwrap().deliver(&bot, send).await
}

async fn delivered(status: u16, body: &str) -> Result<Receipt, DeliverError> {
    delivered_to(answering(status, "", body).await, &hello()).await
}

#[tokio::test]
async fn a_receipt_says_what_was_made() {
    let receipt = delivered(200, r#"{"message_id": "m9", "thread_id": "t1"}"#).await.unwrap();
    assert_eq!(receipt.message_id.as_deref(), Some("m9"));
    assert_eq!(receipt.thread_id.as_deref(), Some("t1"));
    assert_eq!(receipt.chat, None);

    assert_eq!(delivered(200, "{}").await.unwrap(), Receipt::default());
}

#[tokio::test]
async fn a_chat_says_what_it_is() {
    let info = r#"{"name": "General", "type": "channel"}"#;
    let address = answering(200, "", info).await;

    let receipt = delivered_to(address, &send(Op::GetChatInfo)).await.unwrap();
    let want = ChatInfo { name: "General".to_owned(), kind: "channel".to_owned() };
    assert_eq!(receipt.chat, Some(want));
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_again() {
    let cases = [("retry-after: 7\r\n", Duration::from_secs(7)), ("", Duration::from_secs(1))];
    for (header, want) in cases {
        let got = delivered_to(answering(429, header, "{}").await, &hello()).await;
        let Err(DeliverError::RateLimited { retry_after }) = got else { panic!("{got:?}") };
        assert_eq!(retry_after, want);
    }
}

#[tokio::test]
async fn a_rejected_key_is_told_from_a_refused_message() {
    for status in [401, 403] {
        let got = delivered(status, "{}").await;
        assert!(matches!(got, Err(DeliverError::KeyRejected)), "{status}: {got:?}");
    }
    let cases = [
        ("its own word", r#"{"code": "chat_not_found"}"#, "chat_not_found"),
        ("none", "{}", "400"),
        ("a text instead of a word", r#"{"code": "no, hello yourself"}"#, "400"),
    ];
    for (name, body, want) in cases {
        let got = delivered(400, body).await;
        let Err(DeliverError::Refused { platform_code }) = got else { panic!("{name}: {got:?}") };
        assert_eq!(platform_code, want, "{name}");
    }
}

#[tokio::test]
async fn what_went_out_and_was_not_answered_is_ambiguous() {
    let cases = [
        ("server error", delivered(500, "{}").await),
        ("bad gateway", delivered(502, "{}").await),
        ("redirect", delivered(307, "{}").await),
        ("no receipt", delivered(200, "fine").await),
        ("endless", delivered(200, &" ".repeat(64 * 1024 + 1)).await),
        ("hung up", delivered_to(hanging_up().await, &hello()).await),
    ];
    for (name, got) in cases {
        assert!(matches!(got, Err(DeliverError::Ambiguous(_))), "{name}: {got:?}");
    }
}

/// Starts a platform that takes the call and closes the connection.
async fn hanging_up() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        call(&mut socket).await;
    });
    address
}

#[tokio::test]
async fn a_platform_that_is_not_there_did_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);

    let got = delivered_to(address, &hello()).await;
    assert!(matches!(got, Err(DeliverError::Unavailable(_))), "{got:?}");
}

#[tokio::test]
async fn a_bot_without_an_address_cannot_send() {
    for settings in [json!({}), json!({ "deliver_url": "nowhere" }), json!(7)] {
        let got = Scripted::new().unwrap().deliver(&bot(settings), &hello()).await;
        assert!(matches!(got, Err(DeliverError::Unsupported)), "{got:?}");
    }
}
