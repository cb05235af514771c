//! Takes every fire, and records its id and time.
//!
//! One listener serves every address of the machine's loopback, so agents can have as many hosts as a proof names. A
//! fire is recorded when the call was read, before the response.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::sleepers::micros_now;
use crate::worker;

const REQUEST_BYTES_MAX: usize = 16 * 1024;

const TAKEN: &[u8] =
    b"HTTP/1.1 202 Accepted\r\ncontent-length: 21\r\nconnection: close\r\n\r\n{\"status\":\"accepted\"}";

/// Arguments of the process.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The port on which it listens, on every address.
    #[arg(long)]
    port: u16,
}

/// Commands to the target.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Report the number of calls.
    Count,
    /// Report all calls.
    Tell,
}

/// The received calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Heard {
    /// Number of calls.
    pub calls: usize,
    /// Each call, if it was requested.
    pub fires: Vec<Received>,
}

/// A received fire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Received {
    /// Its id: the `jti` of its token.
    pub fire: String,
    /// Its job.
    pub job: String,
    /// Time of receipt, in microseconds since 1970.
    pub at: u64,
}

type Noted = Arc<Mutex<Vec<Received>>>;

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let at = SocketAddr::from((Ipv4Addr::UNSPECIFIED, arguments.port));
    let listener = TcpListener::bind(at).await.context("could not listen for fires")?;
    let noted = Noted::default();
    let mut tasks = JoinSet::new();
    tasks.spawn(listen(Arc::clone(&noted), listener));
    worker::answer(async |order| {
        let noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
        let fires = match order {
            Order::Count => Vec::new(),
            Order::Tell => noted.clone(),
        };
        Ok(Heard { calls: noted.len(), fires })
    })
    .await
}

async fn listen(noted: Noted, listener: TcpListener) {
    let mut calls = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while calls.try_join_next().is_some() {}
        calls.spawn(heard(Arc::clone(&noted), stream));
    }
}

async fn heard(noted: Noted, mut stream: TcpStream) {
    let Some((fire, job)) = read(&mut stream).await else { return };
    let received = Received { fire, job, at: micros_now() };
    // The list is consistent at every step, also if a holder panicked.
    noted.lock().unwrap_or_else(PoisonError::into_inner).push(received);
    // The caller may have closed the connection.
    stream.write_all(TAKEN).await.ok();
}

/// Reads a call. Returns its fire and its job, if it is complete.
async fn read(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut request = Vec::new();
    loop {
        if let Some(read) = read_in(&request) {
            return Some(read);
        }
        let more = request.len() < REQUEST_BYTES_MAX;
        if !more || !matches!(stream.read_buf(&mut request).await, Ok(1..)) {
            return None;
        }
    }
}

fn read_in(request: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(request).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let body: Value = serde_json::from_str(body).ok()?;
    let head = head.to_ascii_lowercase().find("bearer ").and_then(|at| head.get(at + 7..))?;
    // The token is not verified: this proof only counts the fires.
    let claims = head.lines().next()?.split('.').nth(1)?;
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    Some((claims["jti"].as_str()?.to_owned(), body["job_id"].as_str()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_which_fire_of_which_job() {
        let claims = URL_SAFE_NO_PAD.encode(br#"{"jti":"f1"}"#);
        let call = format!(
            "POST /api/cron/fire HTTP/1.1\r\nAuthorization: Bearer x.{claims}.y\r\n\r\n{{\"job_id\":\"j1\"}}"
        );

        assert_eq!(read_in(call.as_bytes()), Some(("f1".to_owned(), "j1".to_owned())));
        assert_eq!(read_in(&call.as_bytes()[..call.len() - 1]), None, "not all of it came");
    }
}
