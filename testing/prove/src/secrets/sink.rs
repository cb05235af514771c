//! Serves the desk's outgoing calls, as a platform and a trace collector, and stores them.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Received data by kind.
#[derive(Debug, Default)]
struct Kept {
    capabilities: Vec<String>,
    traces: Vec<u8>,
}

/// A server that stores the received data.
#[derive(Debug)]
pub(crate) struct Sink {
    address: SocketAddr,
    kept: Arc<Mutex<Kept>>,
    /// Owns the listener's task.
    _tasks: JoinSet<()>,
}

impl Sink {
    pub(crate) async fn open() -> Result<Self> {
        let listener =
            TcpListener::bind(("127.0.0.1", 0)).await.context("could not bind a port")?;
        let address = listener.local_addr().context("could not read the port")?;
        let kept = Arc::new(Mutex::new(Kept::default()));
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, Arc::clone(&kept)));
        Ok(Self { address, kept, _tasks: tasks })
    }

    /// Returns the URL for bots' deliveries.
    pub(crate) fn deliver_url(&self) -> String {
        format!("http://{}/deliver", self.address)
    }

    /// Returns the URL for traces.
    pub(crate) fn traces_url(&self) -> String {
        format!("http://{}/v1/traces", self.address)
    }

    /// Returns true if a call used this capability.
    pub(crate) fn was_used(&self, capability: &str) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.capabilities.iter().any(|used| used == capability)
    }

    /// Returns every byte of the traces.
    pub(crate) fn traces(&self) -> Vec<u8> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).traces.clone()
    }
}

async fn serve(listener: TcpListener, kept: Arc<Mutex<Kept>>) {
    let mut callers = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        callers.spawn(answer(stream, Arc::clone(&kept)));
    }
}

async fn answer(mut stream: TcpStream, kept: Arc<Mutex<Kept>>) {
    let mut heard = Vec::new();
    while let Some((is_traces, body)) = request(&mut stream, &mut heard).await {
        keep(&kept, is_traces, &body);
        let said = if is_traces { "{}" } else { "{\"message_id\":\"m1\"}" };
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{said}", said.len());
        // The caller may have closed the connection.
        stream.write_all(answer.as_bytes()).await.ok();
    }
}

fn keep(kept: &Mutex<Kept>, is_traces: bool, body: &[u8]) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if is_traces {
        kept.traces.extend_from_slice(body);
    } else if let Ok(call) = serde_json::from_slice::<Value>(body)
        && let Some(capability) = call["capability"].as_str()
    {
        kept.capabilities.push(capability.to_owned());
    }
}

/// Reads the next request. Returns true for traces, and its body.
async fn request(stream: &mut TcpStream, heard: &mut Vec<u8>) -> Option<(bool, Vec<u8>)> {
    loop {
        if let Some((is_traces, body)) = whole(heard) {
            let said = heard[body.clone()].to_vec();
            heard.drain(..body.end);
            return Some((is_traces, said));
        }
        if stream.read_buf(heard).await.ok()? == 0 {
            return None;
        }
    }
}

/// Returns the range of a complete request's body.
fn whole(heard: &[u8]) -> Option<(bool, Range<usize>)> {
    let begins = heard.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&heard[..begins]).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let ends = begins + length.and_then(|length| length.parse::<usize>().ok()).unwrap_or(0);
    (heard.len() >= ends).then(|| (text.starts_with("post /v1/traces"), begins..ends))
}
