//! Provides a scripted client of the gateway.

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::*;

/// All intents except privileged ones.
pub(super) const PLAIN: u64 = 1 | 1 << 9 | 1 << 10 | 1 << 12;
pub(super) const CONTENT: u64 = 1 << 15;

/// A client with a socket.
pub(super) struct Shard(pub(super) WebSocketStream<TcpStream>);

impl Shard {
    pub(super) async fn dial(url: &str) -> Self {
        Self::dial_with(url, "v=10&encoding=json").await
    }

    pub(super) async fn dial_with(url: &str, query: &str) -> Self {
        let host = url.strip_prefix("ws://").unwrap();
        let stream = TcpStream::connect(host).await.unwrap();
        let (socket, _) = client_async(format!("{url}/?{query}"), stream).await.unwrap();
        Self(socket)
    }

    /// Dials, reads the hello and sends this frame.
    pub(super) async fn say(url: &str, said: Value) -> Self {
        let mut shard = Self::dial(url).await;
        assert_eq!(shard.hear().await["op"], json!(10));
        shard.tell(said).await;
        shard
    }

    pub(super) async fn ready(fake: &FakeDiscord, intents: u64) -> (Self, Value) {
        let mut shard =
            Self::say(&fake.gateway_url(), identify(&json!({ "intents": intents }))).await;
        let ready = shard.event("READY").await;
        shard.event("GUILD_CREATE").await;
        (shard, ready)
    }

    pub(super) async fn tell(&mut self, said: Value) {
        self.0.send(Message::text(said.to_string())).await.unwrap();
    }

    /// Returns the next frame, or `{"closed": code}`.
    pub(super) async fn hear(&mut self) -> Value {
        match timeout(PATIENCE, self.0.next()).await.expect("a frame") {
            Some(Ok(Message::Text(text))) => serde_json::from_str(&text).unwrap(),
            Some(Ok(Message::Close(frame))) => {
                json!({ "closed": frame.map(|frame| u16::from(frame.code)) })
            }
            _ => json!({ "closed": null }),
        }
    }

    /// Returns the next frame, which must be this event.
    pub(super) async fn event(&mut self, name: &str) -> Value {
        let frame = self.hear().await;
        assert_eq!(frame["t"], json!(name), "{frame}");
        frame["d"].clone()
    }

    pub(super) async fn content(&mut self) -> Value {
        self.event("MESSAGE_CREATE").await["content"].clone()
    }
}

pub(super) fn identify(with: &Value) -> Value {
    let mut asked = json!({ "token": TOKEN, "intents": PLAIN, "properties": {} });
    asked.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    json!({ "op": 2, "d": asked })
}

pub(super) fn resume(ready: &Value, seq: u64) -> Value {
    json!({ "op": 6, "d": { "token": TOKEN, "session_id": ready["session_id"], "seq": seq } })
}

pub(super) fn url(ready: &Value) -> String {
    ready["resume_gateway_url"].as_str().unwrap().to_owned()
}
