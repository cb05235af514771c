//! Simulates a platform that takes every call and records it.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::gateway::PATIENCE;

/// A platform that takes every call of a scripted bot, and answers with success.
#[derive(Debug)]
pub struct TestPlatform {
    url: String,
    calls: watch::Receiver<Vec<Value>>,
    seen: usize,
    /// Owns the server's task.
    _server: JoinSet<()>,
}

impl TestPlatform {
    /// Opens a platform on a free port.
    pub async fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let (told, calls) = watch::channel(Vec::new());
        let mut server = JoinSet::new();
        server.spawn(serve(listener, told));
        Self { url: format!("http://{address}/deliver"), calls, seen: 0, _server: server }
    }

    /// Returns the settings of a bot that calls this platform.
    pub fn settings(&self) -> Value {
        json!({ "deliver_url": self.url })
    }

    /// Returns the calls so far.
    pub fn calls(&self) -> Vec<Value> {
        self.calls.borrow().clone()
    }

    /// Returns the next call.
    pub async fn next(&mut self) -> Value {
        let seen = self.seen;
        self.seen += 1;
        let called = self.calls.wait_for(|calls| calls.len() > seen);
        let called = timeout(PATIENCE, called).await.expect("a call comes in time");
        called.expect("the server runs")[seen].clone()
    }
}

async fn serve(listener: TcpListener, told: watch::Sender<Vec<Value>>) {
    let mut callers = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        callers.spawn(answer(socket, told.clone()));
    }
}

async fn answer(mut socket: TcpStream, told: watch::Sender<Vec<Value>>) {
    while let Some(call) = call(&mut socket).await {
        let mut send = call["send"].clone();
        for aid in ["capability", "file"] {
            if let Some(value) = call.get(aid) {
                send[aid] = value.clone();
            }
        }
        told.send_modify(|calls| calls.push(send));
        let number = told.borrow().len();
        let body = json!({ "message_id": format!("m{number}") }).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        // The caller may have closed the connection.
        drop(socket.write_all([head, body].concat().as_bytes()).await);
    }
}

/// Reads the JSON of one request as soon as it is complete.
async fn call(socket: &mut TcpStream) -> Option<Value> {
    let mut request = Vec::new();
    loop {
        if socket.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
        let body = request.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4);
        if let Some(call) = body.and_then(|at| serde_json::from_slice(&request[at..]).ok()) {
            return Some(call);
        }
    }
}
