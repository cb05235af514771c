//! Simulates a gateway.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::SinkExt;
use nightdesk_gateway::{Closed, DialError, Line, Received, ack, hello, token};
use nightdesk_protocol::upgrade_token;
use nightdesk_types::{Clock, SystemClock};
use nightdesk_vault::Key;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;

/// Long enough for anything a test waits for.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A gateway on an open line.
pub struct TestGateway {
    line: Line<TcpStream>,
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
        let token = token(name, secret, SystemClock::start().now());
        Self::dial_with(address, token.expose()).await
    }

    /// Dials with any token.
    pub async fn dial_with(address: SocketAddr, token: &str) -> Result<Self, u16> {
        let stream = TcpStream::connect(address).await.expect("the desk listens");
        match Line::open(stream, &address.to_string(), token).await {
            Ok(line) => Ok(Self { line }),
            Err(DialError::Refused(status)) => Err(status),
            Err(DialError::Broken(error)) => {
                unreachable!("the desk answers a dial with HTTP: {error}")
            }
        }
    }

    /// Sends a hello for a platform, as a client that needs no time to boot.
    pub async fn hello(&mut self, platform: &str) {
        self.hello_for(platform, "").await;
    }

    /// Sends a hello for one bot of a platform.
    pub async fn hello_for(&mut self, platform: &str, bot: &str) {
        self.say(&hello(platform, bot)).await;
    }

    /// Sends a frame.
    pub async fn say(&mut self, frame: &Value) {
        // If the line was closed meanwhile, the next read reports it.
        drop(self.line.send_frame(frame).await);
    }

    /// Acks an entry.
    pub async fn ack(&mut self, buffer_id: &Value) {
        self.say(&ack(buffer_id.as_str().expect("an entry has a name"))).await;
    }

    /// Sends raw frames.
    pub async fn send_raw(&mut self, frames: impl IntoIterator<Item = Frame>) {
        for frame in frames {
            if self.line.socket().feed(Message::Frame(frame)).await.is_err() {
                return;
            }
        }
        drop(self.line.socket().flush().await);
    }

    /// Sends any message.
    pub async fn send(&mut self, message: Message) {
        drop(self.line.send(message).await);
    }

    /// Returns the next event, without pings and pongs.
    pub async fn hear(&mut self) -> Heard {
        self.hear_within(PATIENCE).await
    }

    /// Returns the next event within a time.
    pub async fn hear_within(&mut self, span: Duration) -> Heard {
        loop {
            match timeout(span, self.line.receive()).await {
                Ok(Received::Text(text)) => {
                    let frame = serde_json::from_str(text.as_str()).expect("a frame is JSON");
                    return Heard::Frame(frame);
                }
                Ok(Received::Closed(Closed { code, .. })) => return Heard::Closed(code),
                Ok(Received::Other) => {}
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
    let now = SystemClock::start().now();
    let lifetime = if expires_in == 0 { 0 } else { 1_000 };
    let made_at = now + jiff::Span::new().seconds(expires_in - lifetime);
    secret.with(|secret| {
        upgrade_token::make(gateway, secret.as_bytes(), lifetime, made_at).expose().to_owned()
    })
}
