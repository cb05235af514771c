//! Sends an agent's HTTP requests to a node, and returns the responses.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::gateway::wire::{head_end, status};

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    /// Bearer token.
    pub(super) token: &'a str,
    /// Path of the route.
    pub(super) path: &'a str,
    /// Body of a POST. Without it, the request is a GET.
    pub(super) body: Option<&'a Value>,
    /// Timeout for the response.
    pub(super) wait: Duration,
}

/// The outcome of a request.
#[derive(Debug)]
pub(super) enum Heard {
    /// The connection was refused, so the request was not sent.
    Nobody,
    /// No response, or an incomplete one: the node may execute the request at any time from now on.
    Nothing,
    /// Status and body of the response.
    Answer(u16, Value),
}

/// Sends a request to a node.
pub(super) async fn ask(node: SocketAddr, request: Request<'_>) -> Heard {
    let Ok(Ok(stream)) = timeout(request.wait, TcpStream::connect(node)).await else {
        return Heard::Nobody;
    };
    let said = timeout(request.wait, said(stream, node, request)).await;
    said.ok()
        .and_then(Result::ok)
        .map_or(Heard::Nothing, |(status, body)| Heard::Answer(status, body))
}

async fn said(
    mut stream: TcpStream,
    node: SocketAddr,
    Request { token, path, body, .. }: Request<'_>,
) -> Result<(u16, Value)> {
    let method = if body.is_some() { "POST" } else { "GET" };
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {node}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let status = status(&answer).context("an answer without a status")?;
    let at = head_end(&answer).context("an answer that broke off")?;
    Ok((status, serde_json::from_slice(&answer[at..]).unwrap_or_default()))
}
