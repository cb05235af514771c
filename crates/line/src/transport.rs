//! The interface of a line's transport: it moves frames, and holds no cursor, no retry and no entry of its own.

use nightdesk_inbox::AckRange;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::{EntryId, Transport};
use tokio_tungstenite::tungstenite::Bytes;

/// An event on a transport.
#[derive(Debug)]
pub(crate) enum TransportEvent {
    /// Text, possibly a part of a frame.
    Text(Bytes),
    /// A whole frame.
    Frame(Box<FromGateway>),
    /// A ping. The transport answers it.
    Ping,
    /// A pong.
    Pong,
    /// A request of the client, which shows that it is there.
    Called,
    /// These entries reached the client and it did not handle them. The transport delivers nothing more.
    Undelivered(Vec<EntryId>),
    /// The end, with its close code.
    Ended(u16),
    /// A protocol violation by the client.
    Misbehaved(Close),
}

/// The transport of one line. Every buffer and every wait of it has a bound.
pub(crate) trait LineTransport: Send {
    /// The kind of the transport.
    fn kind(&self) -> Transport;

    /// Waits for the next event. The future is cancel-safe.
    fn next_event(&mut self) -> impl Future<Output = TransportEvent> + Send;

    /// Buffers a frame.
    fn feed_frame(
        &mut self,
        frame: Frame,
    ) -> impl Future<Output = Result<(), TransportBroken>> + Send;

    /// Learns that these acks are stored: a moment ago the line still was its agent's newest.
    fn note_stored(&mut self, _: AckRange) {}

    /// Buffers a ping.
    fn feed_ping(&mut self) -> impl Future<Output = Result<(), TransportBroken>> + Send;

    /// Sends what is buffered.
    fn flush(&mut self) -> impl Future<Output = Result<(), TransportBroken>> + Send;

    /// Ends the transport with a reason.
    fn close(&mut self, close: Close) -> impl Future<Output = Result<(), TransportBroken>> + Send;

    /// Waits a short time until the client knows of the end.
    fn linger(&mut self) -> impl Future<Output = ()> + Send;
}

/// Nothing can be sent any more.
#[derive(Debug)]
pub(crate) struct TransportBroken;
