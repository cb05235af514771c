//! A WebSocket for a session, with limits on everything.

use futures_util::{SinkExt, StreamExt};
use nightdesk_protocol::Frame;
use nightdesk_protocol::close::Close;
use nightdesk_types::limits::{CLOSE_WAIT, FRAME_IN_BYTES_MAX};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use crate::limits::{READ_BUFFER_BYTES, WRITE_BUFFER_BYTES_MAX, WRITE_WAIT};
use crate::session::Ended;

/// The code of a socket that ended without one.
const NO_CODE: u16 = 1005;

/// The code of a socket that broke.
const BROKEN: u16 = 1006;

/// The transport of a WebSocket: TCP, or TLS over it.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Connection for S {}

/// A WebSocket.
pub(crate) struct Socket(Box<WebSocketStream<Box<dyn Connection>>>);

/// An event of a socket.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Text, perhaps a part of a line.
    Text(Bytes),
    /// A ping, which the library answers, or a pong.
    Alive,
    /// The end.
    Ended(Ended),
}

/// Returns the limits of a socket. The library's defaults are 128 KiB for reading and none for writing.
pub(crate) fn bounds() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(READ_BUFFER_BYTES)
        .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
        .max_message_size(Some(FRAME_IN_BYTES_MAX))
        .max_frame_size(Some(FRAME_IN_BYTES_MAX))
}

impl Socket {
    pub(crate) fn new(stream: WebSocketStream<Box<dyn Connection>>) -> Self {
        Self(Box::new(stream))
    }

    /// Waits for the next event. The future may be dropped while it waits.
    pub(crate) async fn hear(&mut self) -> Heard {
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => Heard::Text(text.into()),
            Some(Ok(Message::Binary(bytes))) => Heard::Text(bytes),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Heard::Alive,
            Some(Ok(Message::Close(close))) => Heard::Ended(ended(close)),
            Some(Err(Error::Capacity(_))) => Heard::Ended(with_code(Close::TooBig.code())),
            Some(Err(_)) | None => Heard::Ended(with_code(BROKEN)),
        }
    }

    /// Writes a frame.
    pub(crate) async fn say(&mut self, frame: Frame) -> Result<(), Ended> {
        self.write(Message::text(frame.into_string())).await
    }

    /// Pings.
    pub(crate) async fn ping(&mut self) -> Result<(), Ended> {
        self.write(Message::Ping(Bytes::new())).await
    }

    /// Sends a close and waits briefly until the desk has hung up too: a socket that is dropped with unread data is
    /// reset, and the desk may not see the last frames.
    pub(crate) async fn close(mut self, close: Close) {
        let frame = CloseFrame { code: close.code().into(), reason: close.reason().into() };
        let goodbye = async {
            if self.0.send(Message::Close(Some(frame))).await.is_ok() {
                while !matches!(self.hear().await, Heard::Ended(_)) {}
            }
        };
        drop(timeout(CLOSE_WAIT, goodbye).await);
    }

    async fn write(&mut self, message: Message) -> Result<(), Ended> {
        match timeout(WRITE_WAIT, self.0.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(with_code(BROKEN)),
        }
    }
}

fn ended(close: Option<CloseFrame>) -> Ended {
    match close {
        Some(CloseFrame { code, reason }) => {
            Ended { code: code.into(), reason: reason.as_str().to_owned() }
        }
        None => with_code(NO_CODE),
    }
}

const fn with_code(code: u16) -> Ended {
    Ended { code, reason: String::new() }
}
