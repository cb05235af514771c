//! Makes HTTP requests, each on a connection of its own.

use anyhow::{Context, Result};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Sends a request, and reads the response with `read`. The connection ends with the response.
pub(crate) async fn exchange<T, R>(
    stream: TcpStream,
    request: Request<Full<Bytes>>,
    read: impl FnOnce(Response<Incoming>) -> R,
) -> Result<T>
where
    R: Future<Output = Result<T>>,
{
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.context("could not begin to speak")?;
    let exchange = async move {
        let response = sender.send_request(request).await.context("a request got no response")?;
        read(response).await
    };
    // The exchange has the outcome of both.
    let (outcome, _) = tokio::join!(exchange, connection);
    outcome
}
