//! Socket: a WebSocket as a line sees it.

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

/// What a socket reads at a time. The library's default of 128 KiB is per socket, and most
/// sockets are idle.
const READ_BUFFER_BYTES: usize = 2 * 1024;

/// What may wait to be written: a full window, and one frame more.
const WRITE_BUFFER_BYTES_MAX: usize = 2 * WINDOW_BYTES_MAX;

/// The code of a socket that ended without one.
const NO_CODE: u16 = 1005;

/// The code of a socket that broke.
const BROKEN: u16 = 1006;

/// What came over a socket.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Text, perhaps a piece of a line.
    Text(Bytes),
    /// A ping. It is answered by itself.
    Ping,
    /// A pong.
    Pong,
    /// The end, with its code.
    Ended(u16),
    /// What no client should do.
    Misbehaved(Close),
}

/// A WebSocket, with bounds on everything.
pub(crate) struct Socket<S> {
    stream: WebSocketStream<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    /// Takes a connection on which the upgrade was just answered.
    pub(crate) async fn upgraded(connection: S) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .write_buffer_size(READ_BUFFER_BYTES)
            .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX)
            .max_message_size(Some(FRAME_IN_BYTES_MAX))
            .max_frame_size(Some(FRAME_IN_BYTES_MAX));
        let stream = WebSocketStream::from_raw_socket(connection, Role::Server, Some(config)).await;
        Self { stream }
    }

    /// Waits for what comes next. It may be dropped while it waits.
    pub(crate) async fn hear(&mut self) -> Heard {
        match self.stream.next().await {
            Some(Ok(Message::Text(text))) => Heard::Text(text.into()),
            Some(Ok(Message::Binary(bytes))) => Heard::Text(bytes),
            Some(Ok(Message::Ping(_))) => Heard::Ping,
            Some(Ok(Message::Pong(_) | Message::Frame(_))) => Heard::Pong,
            Some(Ok(Message::Close(close))) => {
                Heard::Ended(close.map_or(NO_CODE, |close| close.code.into()))
            }
            Some(Err(error)) => judged(&error),
            None => Heard::Ended(BROKEN),
        }
    }

    /// Puts a frame behind what waits to be written.
    pub(crate) async fn say(&mut self, frame: Frame) -> Result<(), Broken> {
        bounded(self.stream.feed(Message::text(frame.into_string()))).await
    }

    /// Pings.
    pub(crate) async fn ping(&mut self) -> Result<(), Broken> {
        bounded(self.stream.feed(Message::Ping(Bytes::new()))).await
    }

    /// Writes what waits.
    pub(crate) async fn flush(&mut self) -> Result<(), Broken> {
        bounded(self.stream.flush()).await
    }

    /// Says goodbye, with a reason.
    pub(crate) async fn close(&mut self, close: Close) -> Result<(), Broken> {
        let frame = CloseFrame { code: close.code().into(), reason: close.reason().into() };
        bounded(self.stream.send(Message::Close(Some(frame)))).await
    }

    /// Waits a little until the client has hung up too. A socket that is dropped with
    /// something unread is reset, and the client may never see why it was closed.
    pub(crate) async fn linger(&mut self) {
        let hung_up = async { while !matches!(self.hear().await, Heard::Ended(_)) {} };
        drop(timeout(CLOSE_WAIT, hung_up).await);
    }
}

/// The socket cannot be written to any more.
#[derive(Debug)]
pub(crate) struct Broken;

async fn bounded(write: impl Future<Output = Result<(), Error>>) -> Result<(), Broken> {
    match timeout(WRITE_WAIT, write).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Broken),
    }
}

/// What an error says about the client.
fn judged(error: &Error) -> Heard {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => Heard::Misbehaved(Close::TooBig),
        Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            Heard::Misbehaved(Close::Policy)
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
        | Error::HttpFormat(_) => Heard::Ended(BROKEN),
        Error::Protocol(_) | Error::Utf8(_) | Error::Capacity(_) => {
            Heard::Misbehaved(Close::Policy)
        }
    }
}
