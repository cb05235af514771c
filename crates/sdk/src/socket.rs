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
use crate::session::SocketClose;

/// The code of a socket that ended without one.
const NO_CODE: u16 = 1005;

/// The code of a socket that broke.
const BROKEN: u16 = 1006;

/// The transport of a WebSocket: TCP, or TLS over it.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Connection for S {}

/// A WebSocket.
pub(crate) struct AgentSocket(Box<WebSocketStream<Box<dyn Connection>>>);

/// An event of a socket.
#[derive(Debug)]
pub(crate) enum SocketEvent {
    /// Text, perhaps a part of a line.
    Text(Bytes),
    /// A ping, which the library answers, or a pong.
    Alive,
    /// The end.
    Ended(SocketClose),
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

impl AgentSocket {
    pub(crate) fn new(stream: WebSocketStream<Box<dyn Connection>>) -> Self {
        Self(Box::new(stream))
    }

    /// Waits for the next event. The future may be dropped while it waits.
    pub(crate) async fn next_event(&mut self) -> SocketEvent {
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => SocketEvent::Text(text.into()),
            Some(Ok(Message::Binary(bytes))) => SocketEvent::Text(bytes),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => SocketEvent::Alive,
            Some(Ok(Message::Close(close))) => SocketEvent::Ended(end_from_close(close)),
            Some(Err(Error::Capacity(_))) => {
                SocketEvent::Ended(end_with_code(Close::TooBig.code()))
            }
            Some(Err(_)) | None => SocketEvent::Ended(end_with_code(BROKEN)),
        }
    }

    /// Writes a frame.
    pub(crate) async fn send_frame(&mut self, frame: Frame) -> Result<(), SocketClose> {
        self.write(Message::text(frame.into_string())).await
    }

    /// Pings.
    pub(crate) async fn ping(&mut self) -> Result<(), SocketClose> {
        self.write(Message::Ping(Bytes::new())).await
    }

    /// Sends a close and waits briefly until the desk has hung up too: a socket that is dropped with unread data is
    /// reset, and the desk may not see the last frames.
    pub(crate) async fn close(mut self, close: Close) {
        let frame = CloseFrame { code: close.code().into(), reason: close.reason().into() };
        let goodbye = async {
            if self.0.send(Message::Close(Some(frame))).await.is_ok() {
                while !matches!(self.next_event().await, SocketEvent::Ended(_)) {}
            }
        };
        drop(timeout(CLOSE_WAIT, goodbye).await);
    }

    async fn write(&mut self, message: Message) -> Result<(), SocketClose> {
        match timeout(WRITE_WAIT, self.0.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(end_with_code(BROKEN)),
        }
    }
}

fn end_from_close(close: Option<CloseFrame>) -> SocketClose {
    match close {
        Some(CloseFrame { code, reason }) => {
            SocketClose { code: code.into(), reason: reason.as_str().to_owned() }
        }
        None => end_with_code(NO_CODE),
    }
}

const fn end_with_code(code: u16) -> SocketClose {
    SocketClose { code, reason: String::new() }
}
