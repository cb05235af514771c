//! A scripted gateway.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::{WebSocketStream, accept_async};

/// Time limit of every step.
const WAIT: Duration = Duration::from_secs(8);

pub(crate) struct Gateway {
    listener: TcpListener,
    pub(crate) url: String,
}

/// A socket of a client.
pub(crate) struct Line(WebSocketStream<TcpStream>);

impl Gateway {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}", listener.local_addr().unwrap());
        Self { listener, url }
    }

    /// Accepts the next socket.
    pub(crate) async fn line(&self) -> Line {
        let (stream, _) = timeout(WAIT, self.listener.accept()).await.unwrap().unwrap();
        Line(accept_async(stream).await.unwrap())
    }

    /// Accepts the next socket, sends a hello, and returns the client's first frame.
    pub(crate) async fn greeted(&self) -> (Line, Value) {
        let mut line = self.line().await;
        line.say(json!({ "op": 10, "d": { "heartbeat_interval": 60_000 } })).await;
        let introduced = line.hear().await;
        (line, introduced)
    }

    /// Accepts the next socket and begins a new session.
    pub(crate) async fn ready(&self) -> Line {
        let (mut line, introduced) = self.greeted().await;
        assert_eq!(introduced["op"], 2, "{introduced}");
        line.ready(&self.url).await;
        line
    }

    /// Accepts the next socket, which must resume, and returns its sequence number.
    pub(crate) async fn resumed(&self) -> (Line, u64) {
        let (line, introduced) = self.greeted().await;
        assert_eq!(introduced["op"], 6, "{introduced}");
        (line, introduced["d"]["seq"].as_u64().unwrap())
    }

    /// Returns true if no client dials for a moment.
    pub(crate) async fn is_quiet(&self) -> bool {
        timeout(Duration::from_millis(300), self.listener.accept()).await.is_err()
    }
}

impl Line {
    pub(crate) async fn say(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    pub(crate) async fn say_bytes(&mut self, bytes: Vec<u8>) {
        self.0.send(Message::binary(bytes)).await.unwrap();
    }

    pub(crate) async fn ready(&mut self, url: &str) {
        let data = json!({ "session_id": "s1", "resume_gateway_url": url });
        self.tell("READY", 1, data).await;
    }

    pub(crate) async fn tell(&mut self, kind: &str, seq: u64, data: Value) {
        self.say(json!({ "op": 0, "t": kind, "s": seq, "d": data })).await;
    }

    /// Sends a direct message from a person to the bot.
    pub(crate) async fn says(&mut self, seq: u64, text: &str) {
        let message = json!({
            "id": (1_000 + seq).to_string(), "channel_id": "600", "content": text,
            "author": { "id": "900", "username": "ann" },
        });
        self.tell("MESSAGE_CREATE", seq, message).await;
    }

    /// Returns the next frame, which must not be a close.
    pub(crate) async fn hear(&mut self) -> Value {
        match timeout(WAIT, self.0.next()).await.unwrap() {
            Some(Ok(Message::Text(text))) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn close(mut self, code: u16) {
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        self.0.send(Message::Close(Some(frame))).await.unwrap();
        drop(timeout(Duration::from_secs(1), self.0.next()).await);
    }

    /// Returns the close code.
    pub(crate) async fn ended(&mut self) -> Option<u16> {
        let end = async {
            loop {
                match self.0.next().await {
                    Some(Ok(Message::Close(close))) => return close.map(|close| close.code.into()),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return None,
                }
            }
        };
        timeout(WAIT, end).await.unwrap()
    }
}
