//! Runs a gateway's end of a line over any stream.
//!
//! [`Line`] dials, sends frames and returns the received ones. It follows no other rule of the protocol and has no
//! timeouts, so a test can misbehave. Agents use the SDK instead. The gateways of `testing/prove` that share a machine
//! with a measured desk have a cheaper client of their own.

use futures_util::{SinkExt, StreamExt};
use nightdesk_protocol::{Secret, upgrade_token};
use nightdesk_types::Timestamp;
use nightdesk_vault::Key;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async};

/// Close code of a line that ended without a close frame.
const BROKEN_CODE: u16 = 1006;

/// Close code of a close frame without a code.
const NO_CODE: u16 = 1005;

/// Returns a gateway's token with a client's usual lifetime.
pub fn token(gateway: &str, secret: &Key, now: Timestamp) -> Secret {
    let ttl = upgrade_token::UPGRADE_TTL_SECS;
    secret.with(|secret| upgrade_token::make(gateway, secret.as_bytes(), ttl, now))
}

/// Returns the hello of a client that needs no time to boot, for one bot of a platform. An empty bot is any bot.
pub fn hello(platform: &str, bot: &str) -> Value {
    json!({ "type": "hello", "platform": platform, "botId": bot, "command_manifest": [] })
}

/// Returns the ack of an entry.
pub fn ack(buffer_id: &str) -> Value {
    json!({ "type": "inbound_ack", "bufferId": buffer_id })
}

/// An open line.
#[derive(Debug)]
pub struct Line<S> {
    socket: WebSocketStream<S>,
}

/// The reason that there is no line.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The desk answered the upgrade with this HTTP status.
    #[error("the desk answered {0}")]
    Refused(u16),
    /// The connection failed.
    #[error("the connection failed")]
    Broken(#[source] Error),
}

/// A received message.
#[derive(Debug)]
pub enum Received {
    /// A frame of the line.
    Text(Utf8Bytes),
    /// A ping, a pong or a binary message.
    Other,
    /// The line ended.
    Closed(Closed),
}

/// The end of a line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the line was closed with {code}")]
pub struct Closed {
    /// The close code. It is 1006 without a close frame.
    pub code: u16,
    /// The reason in the close frame.
    pub reason: String,
}

impl Closed {
    /// Returns the end of a line whose connection failed.
    pub fn broken() -> Self {
        Self { code: BROKEN_CODE, reason: "broken".to_owned() }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Line<S> {
    /// Upgrades a connection to this host, with this token.
    pub async fn open(stream: S, host: &str, token: &str) -> Result<Self, DialError> {
        let request = upgrade(host, token).map_err(DialError::Broken)?;
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(Self { socket }),
            Err(Error::Http(response)) => Err(DialError::Refused(response.status().as_u16())),
            Err(error) => Err(DialError::Broken(error)),
        }
    }

    /// Sends a frame.
    pub async fn send_frame(&mut self, frame: &Value) -> Result<(), Closed> {
        self.send(Message::text(format!("{frame}\n"))).await
    }

    /// Sends any message.
    pub async fn send(&mut self, message: Message) -> Result<(), Closed> {
        self.socket.send(message).await.map_err(|_| Closed::broken())
    }

    /// Returns the next message. A dropped call loses none.
    pub async fn receive(&mut self) -> Received {
        match self.socket.next().await {
            Some(Ok(Message::Text(text))) => Received::Text(text),
            Some(Ok(Message::Close(close))) => {
                let (code, reason) = close.map_or((NO_CODE, String::new()), |close| {
                    (close.code.into(), close.reason.to_string())
                });
                Received::Closed(Closed { code, reason })
            }
            Some(Ok(
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_),
            )) => Received::Other,
            Some(Err(_)) | None => Received::Closed(Closed::broken()),
        }
    }

    /// Closes the line.
    pub async fn close(&mut self) -> Result<(), Closed> {
        self.socket.close(None).await.map_err(|_| Closed::broken())
    }

    /// Returns the socket, for broken frames.
    pub const fn socket(&mut self) -> &mut WebSocketStream<S> {
        &mut self.socket
    }
}

fn upgrade(host: &str, token: &str) -> Result<Request, Error> {
    let mut request = format!("ws://{host}/relay").into_client_request()?;
    let bearer: HeaderValue = format!("Bearer {token}").parse()?;
    request.headers_mut().insert("authorization", bearer);
    Ok(request)
}
