//! Socket: a WebSocket as a talk sees it, with bounds on everything.
//!
//! The library writes every frame to the log on its finest level, and with it the key. The desk lets nothing of
//! that through (`nightdesk/src/telemetry/logs.rs`).

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

/// The longest frame that is read: all of a large guild.
pub(super) const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

const READ_BUFFER_BYTES: usize = 16 * 1024;
const WRITE_BUFFER_BYTES_MAX: usize = 64 * 1024;

const WRITE_WAIT: Duration = Duration::from_secs(5);
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// The code to hang up with. With any other Discord ends the session, and a new one would have to be begun.
const GOES_ON: u16 = 4000;

/// What a WebSocket runs over: TCP, or TLS over it.
pub(super) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Connection for S {}

/// A WebSocket.
pub(super) struct Socket(Box<WebSocketStream<Box<dyn Connection>>>);

/// What came over a socket.
pub(super) enum Came {
    Text(Utf8Bytes),
    Nothing,
    /// The end, and its code.
    End(Option<u16>),
}

/// The bounds of a socket.
pub(super) fn bounds() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(READ_BUFFER_BYTES)
        .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
        .max_message_size(Some(FRAME_BYTES_MAX))
        .max_frame_size(Some(FRAME_BYTES_MAX))
}

impl Socket {
    pub(super) fn new(stream: WebSocketStream<Box<dyn Connection>>) -> Self {
        Self(Box::new(stream))
    }

    /// Waits for what comes next. It may be dropped while it waits.
    pub(super) async fn hear(&mut self) -> Came {
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => Came::Text(text),
            Some(Ok(Message::Close(close))) => Came::End(close.map(|close| close.code.into())),
            Some(Ok(
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_),
            )) => Came::Nothing,
            Some(Err(_)) | None => Came::End(None),
        }
    }

    /// Says something. Answers whether it went out.
    pub(super) async fn say(&mut self, text: String) -> bool {
        let said = timeout(WRITE_WAIT, self.0.send(Message::text(text))).await;
        matches!(said, Ok(Ok(())))
    }

    /// Hangs up, so that the session can go on, and waits a little until Discord has too.
    pub(super) async fn hang_up(mut self) {
        let frame = CloseFrame { code: GOES_ON.into(), reason: "".into() };
        let goodbye = async {
            if self.0.send(Message::Close(Some(frame))).await.is_ok() {
                while !matches!(self.hear().await, Came::End(_)) {}
            }
        };
        drop(timeout(CLOSE_WAIT, goodbye).await);
    }
}
