//! Requests a file from the desk, as any gateway may.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const WAIT: Duration = Duration::from_secs(10);
const BYTES_MAX: u64 = 64 * 1024;

/// Fetches a file's URL from this node. Returns the whole response.
pub(super) async fn fetch(node: SocketAddr, url: &str, token: &str) -> Result<String> {
    let (_, path) = url.split_once("/relay/").context("not a file of the desk")?;
    let request = format!(
        "GET /relay/{path} HTTP/1.1\r\nhost: {node}\r\nauthorization: Bearer {token}\r\n\
         connection: close\r\n\r\n"
    );
    timeout(WAIT, asked(node, &request)).await.context("a file did not come")?
}

async fn asked(node: SocketAddr, request: &str) -> Result<String> {
    let mut stream = TcpStream::connect(node).await.context("could not connect")?;
    stream.write_all(request.as_bytes()).await.context("could not ask")?;
    let mut answer = Vec::new();
    stream.take(BYTES_MAX).read_to_end(&mut answer).await.context("could not read")?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
