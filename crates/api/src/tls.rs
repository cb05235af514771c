//! TLS on the public address.
//!
//! [`TlsListener`] performs handshakes beside its accept loop, with a bound in time and in number.
//! [`ServedCertificate`] is the certificate of new handshakes. It can be replaced while the desk serves; open
//! connections keep theirs.

mod certificate;
mod handshakes;
mod metrics;
mod served;
mod validity;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use nightdesk_types::limits::{HANDSHAKE_WAIT, HANDSHAKES_DONE_MAX};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use certificate::{CertificateError, CertificatePair};
pub use metrics::TlsMetrics;
pub use served::{OfferedCertificate, ServedCertificate};

use crate::listen::{ACCEPT_AGAIN, Listener};
use handshakes::{HandshakePlace, Handshakes};
use metrics::HandshakeOutcome;

type TlsConnection<S> = (TlsStream<S>, SocketAddr);

/// A connection after its handshake, or the reason why none could be accepted.
type TlsAccept<S> = io::Result<TlsConnection<S>>;

/// A listener whose connections completed a TLS handshake.
#[derive(Debug)]
pub struct TlsListener<S> {
    ready: Mutex<mpsc::Receiver<TlsAccept<S>>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsListener<S> {
    /// Starts to accept connections as tasks of `connections`, until this node stops.
    pub fn start<L: Listener<Stream = S> + Sync>(
        listener: L,
        served: &Arc<ServedCertificate>,
        connections: &TaskTracker,
        drain: &CancellationToken,
    ) -> Self {
        let (done, ready) = mpsc::channel(HANDSHAKES_DONE_MAX);
        let (acceptor, metrics) = (served.acceptor(), served.metrics().clone());
        let handshake = Arc::new(Handshake { acceptor, metrics, done, drain: drain.clone() });
        connections.spawn(accept(listener, handshake, connections.clone()));
        Self { ready: Mutex::new(ready) }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Listener for TlsListener<S> {
    type Stream = TlsStream<S>;

    async fn next(&self) -> TlsAccept<S> {
        match self.ready.lock().await.recv().await {
            Some(accepted) => accepted,
            // The accept loop ends only when the node stops, and then no caller waits for a connection.
            None => std::future::pending().await,
        }
    }
}

/// The parts of a handshake that all connections share.
struct Handshake<S> {
    acceptor: TlsAcceptor,
    metrics: TlsMetrics,
    done: mpsc::Sender<TlsAccept<S>>,
    drain: CancellationToken,
}

/// Accepts connections. A handshake is a task of its own, so a slow client delays no other.
async fn accept<L: Listener>(
    listener: L,
    handshake: Arc<Handshake<L::Stream>>,
    tasks: TaskTracker,
) {
    let handshakes = Handshakes::default();
    let drain = handshake.drain.clone();
    loop {
        let accepted = tokio::select! {
            accepted = async {
                let turn = handshakes.wait_for_turn().await;
                (turn, listener.next().await)
            } => accepted,
            () = drain.cancelled() => return,
        };
        match accepted {
            (turn, Ok((stream, from))) => match handshakes.begin(turn, from.ip()) {
                Some(place) => {
                    tasks.spawn(Arc::clone(&handshake).run(stream, from, place));
                }
                None => handshake.metrics.count_handshake(HandshakeOutcome::Refused),
            },
            (_, Err(error)) => {
                // The server closes unproven connections. If no receiver is left, the node stops.
                drop(handshake.done.send(Err(error)).await);
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Handshake<S> {
    /// Performs the handshake and hands the connection over. The place is free again afterwards.
    async fn run(self: Arc<Self>, stream: S, from: SocketAddr, place: HandshakePlace) {
        let outcome = tokio::select! {
            outcome = timeout(HANDSHAKE_WAIT, self.acceptor.accept(stream)) => outcome,
            () = self.drain.cancelled() => return,
        };
        match outcome {
            Ok(Ok(stream)) => {
                self.metrics.count_handshake(HandshakeOutcome::Completed);
                // If no receiver is left, the node stops.
                drop(self.done.send(Ok((stream, from))).await);
            }
            Ok(Err(error)) => {
                self.metrics.count_handshake(HandshakeOutcome::Failed);
                tracing::debug!(%error, "a TLS handshake failed");
            }
            Err(_) => self.metrics.count_handshake(HandshakeOutcome::TimedOut),
        }
        drop(place);
    }
}

#[cfg(test)]
mod tests;
