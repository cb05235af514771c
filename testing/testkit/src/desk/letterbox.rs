//! Where the calls of a household's bot arrive.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::gateway::PATIENCE;

/// Calls that may lie in a box and nobody has looked.
const CALLS_MAX: usize = 64;

/// A server that takes every call of a scripted bot, and answers that it was done.
#[derive(Debug)]
pub struct Letterbox {
    address: SocketAddr,
    calls: mpsc::Receiver<Value>,
    /// Owns the server's task.
    _server: JoinSet<()>,
}

impl Letterbox {
    /// Opens one on a free port.
    pub async fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let (put, calls) = mpsc::channel(CALLS_MAX);
        let mut server = JoinSet::new();
        server.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Some(call) = take(stream).await {
                    drop(put.send(call).await);
                }
            }
        });
        Self { address, calls, _server: server }
    }

    /// Where it stands, for a bot's settings.
    pub fn url(&self) -> String {
        format!("http://{}/deliver", self.address)
    }

    /// The next call: the bot's handle, and the send.
    pub async fn next(&mut self) -> Value {
        let call = timeout(PATIENCE, self.calls.recv()).await.expect("a call comes in time");
        call.expect("the server runs")
    }
}

/// Reads one request, and answers that it was done.
async fn take(stream: TcpStream) -> Option<Value> {
    let mut stream = BufReader::new(stream);
    let (mut line, mut bytes) = (String::new(), 0);
    while stream.read_line(&mut line).await.ok()? > 2 {
        let header = line.to_ascii_lowercase();
        if let Some(length) = header.strip_prefix("content-length:") {
            bytes = length.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; bytes];
    stream.read_exact(&mut body).await.ok()?;
    let answer = json!({ "message_id": "m1" }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let answer = format!("{head}content-length: {}\r\n\r\n{answer}", answer.len());
    stream.write_all(answer.as_bytes()).await.ok()?;
    serde_json::from_slice(&body).ok()
}
