//! Simulates a gateway.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use nightdesk_protocol::upgrade_token;
use nightdesk_types::{Clock, SystemClock};
use nightdesk_vault::Key;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// Long enough for anything a test waits for.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A gateway on an open line.
pub struct TestGateway {
    socket: WebSocketStream<TcpStream>,
}

impl std::fmt::Debug for TestGateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TestGateway")
    }
}

/// The next event on a line.
#[derive(Debug, PartialEq)]
pub enum Heard {
    /// A frame.
    Frame(Value),
    /// The line was closed with this code.
    Closed(u16),
    /// Nothing came.
    Nothing,
}

impl TestGateway {
    /// Dials with a token of this name and secret. An error is the status of the refusal.
    pub async fn dial(address: SocketAddr, name: &str, secret: &Key) -> Result<Self, u16> {
        let now = SystemClock::started().now();
        let token = secret.with(|secret| {
            upgrade_token::make(name, secret.as_bytes(), upgrade_token::UPGRADE_TTL_SECS, now)
        });
        Self::dial_with(address, token.expose()).await
    }

    /// Dials with any token.
    pub async fn dial_with(address: SocketAddr, token: &str) -> Result<Self, u16> {
        let stream = TcpStream::connect(address).await.expect("the desk listens");
        let mut request =
            format!("ws://{address}/relay").into_client_request().expect("a good address");
        let bearer = format!("Bearer {token}").parse().expect("a header value");
        request.headers_mut().insert("authorization", bearer);
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(Self { socket }),
            Err(Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => unreachable!("the desk answers a dial with HTTP: {error}"),
        }
    }

    /// Sends a hello for a platform, as a client that needs no time to boot.
    pub async fn hello(&mut self, platform: &str) {
        self.hello_for(platform, "").await;
    }

    /// Sends a hello for one bot of a platform.
    pub async fn hello_for(&mut self, platform: &str, bot: &str) {
        let hello =
            json!({"type": "hello", "platform": platform, "botId": bot, "command_manifest": []});
        self.say(&hello).await;
    }

    /// Sends a frame.
    pub async fn say(&mut self, frame: &Value) {
        // If the line was closed meanwhile, the next read reports it.
        drop(self.socket.send(Message::text(format!("{frame}\n"))).await);
    }

    /// Acks an entry.
    pub async fn ack(&mut self, buffer_id: &Value) {
        self.say(&json!({"type": "inbound_ack", "bufferId": buffer_id})).await;
    }

    /// Sends raw frames.
    pub async fn send_raw(&mut self, frames: impl IntoIterator<Item = Frame>) {
        for frame in frames {
            if self.socket.feed(Message::Frame(frame)).await.is_err() {
                return;
            }
        }
        drop(self.socket.flush().await);
    }

    /// Sends any message.
    pub async fn send(&mut self, message: Message) {
        drop(self.socket.send(message).await);
    }

    /// Returns the next event, without pings and pongs.
    pub async fn hear(&mut self) -> Heard {
        self.hear_within(PATIENCE).await
    }

    /// Returns the next event within a time.
    pub async fn hear_within(&mut self, span: Duration) -> Heard {
        loop {
            match timeout(span, self.socket.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => {
                    let frame = serde_json::from_str(text.as_str()).expect("a frame is JSON");
                    return Heard::Frame(frame);
                }
                Ok(Some(Ok(Message::Close(close)))) => {
                    return Heard::Closed(close.map_or(1005, |close| close.code.into()));
                }
                Ok(Some(Ok(_))) => {}
                Ok(Some(Err(_)) | None) => return Heard::Closed(1006),
                Err(_) => return Heard::Nothing,
            }
        }
    }

    /// Returns the next frame, which must be of this type.
    pub async fn hear_frame(&mut self, kind: &str) -> Value {
        let heard = self.hear().await;
        if let Heard::Frame(frame) = &heard
            && frame["type"] == kind
        {
            return frame.clone();
        }
        unreachable!("expected {kind}, heard {heard:?}")
    }
}

/// Returns a token that expires this many seconds from now; zero means never.
pub fn upgrade_token_at(gateway: &str, secret: &Key, expires_in: i64) -> String {
    // The codec signs lifetimes from a moment, so a token of the past is created in the past.
    let now = SystemClock::started().now();
    let lifetime = if expires_in == 0 { 0 } else { 1_000 };
    let made_at = now + jiff::Span::new().seconds(expires_in - lifetime);
    secret.with(|secret| {
        upgrade_token::make(gateway, secret.as_bytes(), lifetime, made_at).expose().to_owned()
    })
}
