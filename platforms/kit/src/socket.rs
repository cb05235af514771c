//! A WebSocket to a platform, with limits on every operation.
//!
//! At trace level the library logs every frame, including the key. The desk never enables that level for it
//! (`nightdesk/src/telemetry/logs.rs`).

mod dial;

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

pub use dial::{SocketDialler, is_socket_url};

/// Maximum size of a frame. The largest of any platform holds all of a large Discord guild.
pub const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

const READ_BUFFER_BYTES: usize = 16 * 1024;
const WRITE_BUFFER_BYTES_MAX: usize = 64 * 1024;

const WRITE_WAIT: Duration = Duration::from_secs(5);
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// The transport of a WebSocket: TCP or TLS.
pub trait SocketTransport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> SocketTransport for S {}

/// A WebSocket.
pub struct PlatformSocket(Box<WebSocketStream<Box<dyn SocketTransport>>>);

nightdesk_types::opaque_debug!(PlatformSocket);

/// The result of a read.
#[derive(Debug)]
pub enum SocketRead {
    /// A message.
    Text(Utf8Bytes),
    /// A frame without a message.
    Nothing,
    /// The connection ended with this close code.
    End(Option<u16>),
}

/// Returns the limits of a socket.
pub fn socket_limits() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(READ_BUFFER_BYTES)
        .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
        .max_message_size(Some(FRAME_BYTES_MAX))
        .max_frame_size(Some(FRAME_BYTES_MAX))
}

impl PlatformSocket {
    /// Creates the socket of an open stream.
    pub fn new(stream: WebSocketStream<Box<dyn SocketTransport>>) -> Self {
        Self(Box::new(stream))
    }

    /// Waits for the next message. The future may be dropped while it waits.
    pub async fn read_message(&mut self) -> SocketRead {
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
    pub async fn send_text(&mut self, text: String) -> bool {
        let said = timeout(WRITE_WAIT, self.0.send(Message::text(text))).await;
        matches!(said, Ok(Ok(())))
    }

    /// Closes the socket with this code, and waits a short time for the platform's close.
    pub async fn hang_up(mut self, code: u16) {
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        let goodbye = async {
            if self.0.send(Message::Close(Some(frame))).await.is_ok() {
                while !matches!(self.read_message().await, SocketRead::End(_)) {}
            }
        };
        drop(timeout(CLOSE_WAIT, goodbye).await);
    }
}
