//! The WebSocket of a line.

use std::io;

use futures_util::{SinkExt, StreamExt};
use nightdesk_protocol::Frame;
use nightdesk_protocol::close::Close;
use nightdesk_types::limits::{CLOSE_WAIT, FRAME_IN_BYTES_MAX, WINDOW_BYTES_MAX, WRITE_WAIT};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

/// Size of a socket's read buffer. The library's default of 128 KiB is per socket, and most sockets are idle.
const READ_BUFFER_BYTES: usize = 2 * 1024;

/// Size of the write buffer: a full window and one more frame.
const WRITE_BUFFER_BYTES_MAX: usize = 2 * WINDOW_BYTES_MAX;

/// The code of a socket that ended without a code.
const NO_CODE: u16 = 1005;

/// The code of a broken socket.
const BROKEN: u16 = 1006;

/// An event on a socket.
#[derive(Debug)]
pub(crate) enum LineSocketEvent {
    /// Text, possibly a part of a line.
    Text(Bytes),
    /// A ping. The library answers it.
    Ping,
    /// A pong.
    Pong,
    /// The end, with its close code.
    Ended(u16),
    /// A protocol violation by the client.
    Misbehaved(Close),
}

/// A WebSocket with bounds on every buffer and wait.
pub(crate) struct LineSocket<S> {
    stream: WebSocketStream<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> LineSocket<S> {
    /// Wraps a connection right after the response to its upgrade.
    pub(crate) async fn from_upgrade(connection: S) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .write_buffer_size(READ_BUFFER_BYTES)
            .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
            .max_message_size(Some(FRAME_IN_BYTES_MAX))
            .max_frame_size(Some(FRAME_IN_BYTES_MAX));
        let stream = WebSocketStream::from_raw_socket(connection, Role::Server, Some(config)).await;
        Self { stream }
    }

    /// Waits for the next event. The future is cancel-safe.
    pub(crate) async fn next_event(&mut self) -> LineSocketEvent {
        match self.stream.next().await {
            Some(Ok(Message::Text(text))) => LineSocketEvent::Text(text.into()),
            Some(Ok(Message::Binary(bytes))) => LineSocketEvent::Text(bytes),
            Some(Ok(Message::Ping(_))) => LineSocketEvent::Ping,
            Some(Ok(Message::Pong(_) | Message::Frame(_))) => LineSocketEvent::Pong,
            Some(Ok(Message::Close(close))) => {
                LineSocketEvent::Ended(close.map_or(NO_CODE, |close| close.code.into()))
            }
            Some(Err(error)) => event_of_error(&error),
            None => LineSocketEvent::Ended(BROKEN),
        }
    }

    /// Appends a frame to the write buffer.
    pub(crate) async fn feed_frame(&mut self, frame: Frame) -> Result<(), SocketBroken> {
        write_in_time(self.stream.feed(Message::text(frame.into_string()))).await
    }

    /// Appends a ping to the write buffer.
    pub(crate) async fn feed_ping(&mut self) -> Result<(), SocketBroken> {
        write_in_time(self.stream.feed(Message::Ping(Bytes::new()))).await
    }

    /// Writes the buffer.
    pub(crate) async fn flush(&mut self) -> Result<(), SocketBroken> {
        write_in_time(self.stream.flush()).await
    }

    /// Sends a close frame with its reason.
    pub(crate) async fn close(&mut self, close: Close) -> Result<(), SocketBroken> {
        let frame = CloseFrame { code: close.code().into(), reason: close.reason().into() };
        write_in_time(self.stream.send(Message::Close(Some(frame)))).await
    }

    /// Waits a short time until the client has hung up too. A socket that is dropped with unread data is reset, and
    /// then the client may not see the close reason.
    pub(crate) async fn linger(&mut self) {
        let hung_up =
            async { while !matches!(self.next_event().await, LineSocketEvent::Ended(_)) {} };
        drop(timeout(CLOSE_WAIT, hung_up).await);
    }
}

/// The socket cannot be written to any more.
#[derive(Debug)]
pub(crate) struct SocketBroken;

async fn write_in_time(write: impl Future<Output = Result<(), Error>>) -> Result<(), SocketBroken> {
    match timeout(WRITE_WAIT, write).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(SocketBroken),
    }
}

/// Returns the event that an error means.
fn event_of_error(error: &Error) -> LineSocketEvent {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => {
            LineSocketEvent::Misbehaved(Close::TooBig)
        }
        Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            LineSocketEvent::Misbehaved(Close::Policy)
        }
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)
        | Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Io(_)
        | Error::Tls(_)
        | Error::WriteBufferFull(_)
        | Error::AttackAttempt
        | Error::Url(_)
        | Error::Http(_)
        | Error::HttpFormat(_) => LineSocketEvent::Ended(BROKEN),
        Error::Protocol(_) | Error::Utf8(_) | Error::Capacity(_) => {
            LineSocketEvent::Misbehaved(Close::Policy)
        }
    }
}
