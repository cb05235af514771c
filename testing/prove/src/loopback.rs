//! Measures a call and a line without a desk behind them.
//!
//! It is a separate process with the same libraries, like the desk. It makes a plain GET on a new connection, and
//! answers the hello of each client with a prepared entry.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::{Context, Result};
use futures_util::{SinkExt, StreamExt};
use http_body_util::Empty;
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use nightdesk_protocol::Frame;
use nightdesk_protocol::descriptor::Descriptor;
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

use crate::pace::Pace;
use crate::platform::TEXT;
use crate::setup::PLATFORM;
use crate::sleepers::{BARE, micros_now};
use crate::worker;

/// Arguments of the process.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Address on which it accepts lines.
    #[arg(long)]
    listen: SocketAddr,
    /// Address at which the sleepers are called.
    #[arg(long)]
    target: SocketAddr,
}

/// Commands to the process.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Make calls.
    Call {
        /// Number of calls.
        calls: u64,
        /// Calls per second.
        per_second: u32,
    },
}

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let listener = TcpListener::bind(arguments.listen).await.context("could not listen")?;
    let mut tasks = JoinSet::new();
    tasks.spawn(listen(listener));
    worker::answer(async |Order::Call { calls, per_second }| {
        call_all(arguments.target, &Pace::of(calls, per_second)).await
    })
    .await
}

async fn call_all(target: SocketAddr, pace: &Pace) -> Result<()> {
    let mut calls = JoinSet::new();
    while pace.turn().await.is_some() {
        calls.spawn(call(target));
    }
    calls.join_all().await.into_iter().collect()
}

/// Makes a call whose path contains its start time, so that the target can compute the duration.
async fn call(target: SocketAddr) -> Result<()> {
    let path = format!("{BARE}{}", micros_now());
    let stream = TcpStream::connect(target).await.context("could not connect")?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.context("could not begin to speak")?;
    let request = Request::get(path).header("host", target.to_string()).body(Empty::<Bytes>::new());
    let answer = sender.send_request(request.context("could not write a request")?);
    let (answer, _) = tokio::join!(answer, connection);
    answer.map(drop).context("a call was not answered")
}

async fn listen(listener: TcpListener) {
    let ready = Arc::new(ready());
    let mut lines = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while lines.try_join_next().is_some() {}
        lines.spawn(hold(stream, Arc::clone(&ready)));
    }
}

/// Answers the first frame with the prepared messages, and reads the line to its end.
async fn hold(stream: TcpStream, ready: Arc<[Message; 2]>) {
    // A client that got nothing counts this as lost.
    stream.set_nodelay(true).ok();
    let Ok(mut line) = accept_async(stream).await else { return };
    if matches!(line.next().await, Some(Ok(Message::Text(_)))) {
        for message in ready.iter() {
            line.send(message.clone()).await.ok();
        }
    }
    while let Some(Ok(_)) = line.next().await {}
}

/// Returns a descriptor, and an entry like the desk's.
fn ready() -> [Message; 2] {
    let descriptor = Descriptor::new(PLATFORM, PLATFORM, NonZeroU32::MAX);
    let entry = serde_json::json!({
        "type": "inbound",
        "event": {
            "text": TEXT, "message_type": "text", "message_id": "e0",
            "source": {
                "platform": PLATFORM, "chat_id": "c000000", "chat_type": "dm",
                "user_id": "a000000", "user_name": "Ada",
            },
        },
        "bufferId": "ready",
    });
    [
        Message::text(Frame::descriptor(&descriptor).into_string()),
        Message::text(format!("{entry}\n")),
    ]
}
