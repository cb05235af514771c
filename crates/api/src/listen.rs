//! The listener. The bounds of a connection apply before any of its bytes is read.

mod stall;
mod unproven;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use nightdesk_line::ConnectionProof;
use nightdesk_types::limits::UNPROVEN_CLOSED_AT_ONCE;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use stall::StallLimit;
use unproven::UnprovenConnections;

/// Size limit of a request head, and so of the buffer of a connection.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Limit of headers in one request.
const HEADERS_MAX: usize = 64;

/// Timeout for the head of a request.
const HEAD_WAIT: Duration = Duration::from_secs(5);

/// Delay after a failed accept, for example when descriptors run out.
pub(crate) const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// A source of connections: a socket of the machine, or of a simulated network.
pub trait Listener: Send + 'static {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Waits for the next connection and returns it with the address of its client.
    fn next(&self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>> + Send;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn next(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, from) = self.accept().await?;
        // Small frames must not wait for each other. A socket that refuses the option is served anyway.
        drop(stream.set_nodelay(true));
        Ok((stream, from))
    }
}

/// Serves until this node stops. Each connection runs as a task of `connections`.
pub async fn serve(
    listener: impl Listener,
    routes: Router,
    connections: TaskTracker,
    drain: CancellationToken,
) {
    let unproven = UnprovenConnections::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.next() => accepted,
            () = drain.cancelled() => return,
        };
        match accepted {
            Ok((stream, from)) => {
                let proof = ConnectionProof::default();
                let entered = unproven.enter(from.ip(), proof.clone());
                let client = Client { from, proof };
                let served = connection(stream, client, routes.clone(), drain.clone());
                connections.spawn(async move {
                    tokio::select! {
                        () = served => {}
                        () = entered.closing.cancelled() => {}
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                unproven.close_oldest(UNPROVEN_CLOSED_AT_ONCE);
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

/// The client of a connection.
#[derive(Clone, Debug)]
struct Client {
    from: SocketAddr,
    proof: ConnectionProof,
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    routes: Router,
    drain: CancellationToken,
) {
    let stream = StallLimit::new(stream, client.proof.clone());
    let service = service_fn(move |request| respond(routes.clone(), client.clone(), request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WAIT)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut served = std::pin::pin!(served);
    tokio::select! {
        // An error here is only the way in which the client closed its connection.
        _ = served.as_mut() => {}
        () = drain.cancelled() => {
            served.as_mut().graceful_shutdown();
            drop(served.await);
        }
    }
}

/// Responds to a request. A request with a transfer encoding is the last of its connection: HTTP drops a content length
/// beside it, and a proxy that believed the length would see another request in the bytes that follow.
async fn respond(
    routes: Router,
    client: Client,
    mut request: Request<Incoming>,
) -> Result<Response, Infallible> {
    let is_last = request.headers().contains_key(header::TRANSFER_ENCODING);
    request.extensions_mut().insert(ConnectInfo(client.from));
    request.extensions_mut().insert(client.proof);
    let mut response = routes.oneshot(request).await?;
    if is_last {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}
