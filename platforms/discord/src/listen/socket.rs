//! A WebSocket with limits on every operation.
//!
//! At trace level the library logs every frame, including the key. The desk never enables that level for it
//! (`nightdesk/src/telemetry/logs.rs`).

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

/// Maximum size of a frame, which holds all of a large guild.
pub(super) const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

const READ_BUFFER_BYTES: usize = 16 * 1024;
const WRITE_BUFFER_BYTES_MAX: usize = 64 * 1024;

const WRITE_WAIT: Duration = Duration::from_secs(5);
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// Close code that keeps the session resumable. With any other code Discord ends the session.
const GOES_ON: u16 = 4000;

/// The transport of a WebSocket: TCP or TLS.
pub(super) trait GatewayTransport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> GatewayTransport for S {}

/// A WebSocket.
pub(super) struct GatewaySocket(Box<WebSocketStream<Box<dyn GatewayTransport>>>);

/// The result of a read.
pub(super) enum SocketRead {
    Text(Utf8Bytes),
    Nothing,
    /// The connection ended with this close code.
    End(Option<u16>),
}

/// Returns the limits of a socket.
pub(super) fn socket_limits() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(READ_BUFFER_BYTES)
        .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
        .max_message_size(Some(FRAME_BYTES_MAX))
        .max_frame_size(Some(FRAME_BYTES_MAX))
}

impl GatewaySocket {
    pub(super) fn new(stream: WebSocketStream<Box<dyn GatewayTransport>>) -> Self {
        Self(Box::new(stream))
    }

    /// Waits for the next message. The future may be dropped while it waits.
    pub(super) async fn read_message(&mut self) -> SocketRead {
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => SocketRead::Text(text),
            Some(Ok(Message::Close(close))) => {
                SocketRead::End(close.map(|close| close.code.into()))
            }
            Some(Ok(
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_),
            )) => SocketRead::Nothing,
            Some(Err(_)) | None => SocketRead::End(None),
        }
    }

    /// Sends a text. Returns true if it was sent.
    pub(super) async fn send_text(&mut self, text: String) -> bool {
        let said = timeout(WRITE_WAIT, self.0.send(Message::text(text))).await;
        matches!(said, Ok(Ok(())))
    }

    /// Closes the socket so that the session can be resumed, and waits a short time for Discord's close.
    pub(super) async fn hang_up(mut self) {
        let frame = CloseFrame { code: GOES_ON.into(), reason: "".into() };
        let goodbye = async {
            if self.0.send(Message::Close(Some(frame))).await.is_ok() {
                while !matches!(self.read_message().await, SocketRead::End(_)) {}
            }
        };
        drop(timeout(CLOSE_WAIT, goodbye).await);
    }
}
