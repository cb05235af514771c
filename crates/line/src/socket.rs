//! The WebSocket of a line.

use std::io;

use futures_util::{SinkExt, StreamExt};
use nightdesk_protocol::Frame;
use nightdesk_protocol::close::Close;
use nightdesk_types::Transport;
use nightdesk_types::limits::{CLOSE_WAIT, FRAME_IN_BYTES_MAX, WINDOW_BYTES_MAX, WRITE_WAIT};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use crate::transport::{LineTransport, TransportBroken, TransportEvent};

/// Size of a socket's read buffer. The library's default of 128 KiB is per socket, and most sockets are idle.
const READ_BUFFER_BYTES: usize = 2 * 1024;

/// Size of the write buffer: a full window and one more frame.
const WRITE_BUFFER_BYTES_MAX: usize = 2 * WINDOW_BYTES_MAX;

/// The code of a socket that ended without a code.
const NO_CODE: u16 = 1005;

/// The code of a broken socket.
const BROKEN: u16 = 1006;

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
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> LineTransport for LineSocket<S> {
    fn kind(&self) -> Transport {
        Transport::WebSocket
    }

    async fn next_event(&mut self) -> TransportEvent {
        match self.stream.next().await {
            Some(Ok(Message::Text(text))) => TransportEvent::Text(text.into()),
            Some(Ok(Message::Binary(bytes))) => TransportEvent::Text(bytes),
            Some(Ok(Message::Ping(_))) => TransportEvent::Ping,
            Some(Ok(Message::Pong(_) | Message::Frame(_))) => TransportEvent::Pong,
            Some(Ok(Message::Close(close))) => {
                TransportEvent::Ended(close.map_or(NO_CODE, |close| close.code.into()))
            }
            Some(Err(error)) => event_of_error(&error),
            None => TransportEvent::Ended(BROKEN),
        }
    }

    async fn feed_frame(&mut self, frame: Frame) -> Result<(), TransportBroken> {
        write_in_time(self.stream.feed(Message::text(frame.into_string()))).await
    }

    async fn feed_ping(&mut self) -> Result<(), TransportBroken> {
        write_in_time(self.stream.feed(Message::Ping(Bytes::new()))).await
    }

    async fn flush(&mut self) -> Result<(), TransportBroken> {
        write_in_time(self.stream.flush()).await
    }

    /// Sends a close frame with its reason.
    async fn close(&mut self, close: Close) -> Result<(), TransportBroken> {
        let frame = CloseFrame { code: close.code().into(), reason: close.reason().into() };
        write_in_time(self.stream.send(Message::Close(Some(frame)))).await
    }

    /// Waits a short time until the client has hung up too. A socket that is dropped with unread data is reset, and
    /// then the client may not see the close reason.
    async fn linger(&mut self) {
        let hung_up =
            async { while !matches!(self.next_event().await, TransportEvent::Ended(_)) {} };
        drop(timeout(CLOSE_WAIT, hung_up).await);
    }
}

async fn write_in_time(
    write: impl Future<Output = Result<(), Error>>,
) -> Result<(), TransportBroken> {
    match timeout(WRITE_WAIT, write).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(TransportBroken),
    }
}

/// Returns the event that an error means.
fn event_of_error(error: &Error) -> TransportEvent {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => {
            TransportEvent::Misbehaved(Close::TooBig)
        }
        Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            TransportEvent::Misbehaved(Close::Policy)
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
        | Error::HttpFormat(_) => TransportEvent::Ended(BROKEN),
        Error::Protocol(_) | Error::Utf8(_) | Error::Capacity(_) => {
            TransportEvent::Misbehaved(Close::Policy)
        }
    }
}
