//! A platform that a test plays: it takes every call and tells what it was asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Longer than any call takes that a test expects.
const PATIENCE: Duration = Duration::from_secs(5);

/// A platform that takes every call.
#[derive(Clone, Debug)]
pub struct TestPlatform {
    url: String,
    calls: Arc<Mutex<Vec<Value>>>,
}

impl TestPlatform {
    /// Opens one on a free port.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let platform = Self { url: format!("http://{address}/deliver"), calls: Arc::default() };
        tokio::spawn(platform.clone().serve(listener));
        platform
    }

    /// The settings of a bot that calls here.
    pub fn settings(&self) -> Value {
        json!({ "deliver_url": self.url })
    }

    /// What it was asked to do so far.
    pub fn calls(&self) -> Vec<Value> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it was asked to do, once it was asked so often; or what it was asked within the
    /// time anybody waits.
    pub async fn called(&self, times: usize) -> Vec<Value> {
        let enough = async {
            while self.calls().len() < times {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        drop(tokio::time::timeout(PATIENCE, enough).await);
        self.calls()
    }

    async fn serve(self, listener: TcpListener) {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(self.clone().answer(socket));
        }
    }

    async fn answer(self, mut socket: TcpStream) {
        while let Some(call) = call(&mut socket).await {
            let number = {
                let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                calls.push(call["send"].clone());
                calls.len()
            };
            let body = json!({ "message_id": format!("m{number}") }).to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            // Whoever hung up does not wait for an answer.
            drop(socket.write_all([head, body].concat().as_bytes()).await);
        }
    }
}

/// The JSON of one request, read as soon as it is whole.
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
