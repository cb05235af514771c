//! Writes the world's messages to a client, and passes the client's frames to the world.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::Out;
use super::stream::Stream;
use crate::Shared;

type Line = WebSocketStream<TokioIo<Upgraded>>;

/// End of a socket: its close code, and true if the client ended it.
type End = (Option<u16>, bool);

/// Closed because no heartbeat came.
const SILENT: u16 = 4000;

/// Closed because another version of the gateway was requested.
const OTHER_VERSION: u16 = 4012;

/// Time that a client may take to answer a close frame.
const GOODBYE_WAIT: Duration = Duration::from_secs(1);

pub(crate) async fn converse(
    shared: Shared,
    connection: Upgraded,
    query: String,
    at_resume_url: bool,
) {
    let connection = TokioIo::new(connection);
    let mut line = WebSocketStream::from_raw_socket(connection, Role::Server, None).await;
    let wire = shared.change(|world| world.opened(at_resume_url));
    let (code, by_client) = if is_of_version(&query) {
        run(&shared, &mut line, wire, Stream::new(&query)).await
    } else {
        close(&mut line, OTHER_VERSION).await
    };
    shared.change(|world| world.gone(wire, code, by_client));
}

/// Reports whether the requested version is 10, which is also the default.
fn is_of_version(query: &str) -> bool {
    query.split('&').filter_map(|one| one.strip_prefix("v=")).all(|version| version == "10")
}

async fn run(shared: &Shared, line: &mut Line, wire: usize, mut stream: Stream) -> End {
    let mut changed = shared.changed.subscribe();
    let mut heard_at = Instant::now();
    loop {
        for out in waiting(shared, wire) {
            if let Some(end) = write(line, &mut stream, out).await {
                return end;
            }
        }
        let silence_max = shared.world().settings.heartbeat_every * 2;
        tokio::select! {
            heard = line.next() => match heard {
                Some(Ok(Message::Text(text))) => {
                    heard_at = Instant::now();
                    shared.change(|world| world.hear(wire, text.as_bytes()));
                }
                Some(Ok(Message::Binary(bytes))) => shared.change(|world| world.hear(wire, &bytes)),
                Some(Ok(Message::Close(frame))) => {
                    // The close frame goes out with the flush. A client that is gone gets none.
                    drop(line.close(None).await);
                    return (frame.map(|frame| frame.code.into()), true);
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return (None, true),
            },
            _ = changed.changed() => {}
            () = sleep_until(heard_at + silence_max) => {
                return close(line, SILENT).await;
            }
        }
    }
}

fn waiting(shared: &Shared, wire: usize) -> Vec<Out> {
    let mut world = shared.world();
    let wire = world.gateway.wires.get_mut(wire);
    wire.map(|wire| wire.out.drain(..).collect()).unwrap_or_default()
}

/// Writes one message. Returns the socket's end, if it ended.
async fn write(line: &mut Line, stream: &mut Stream, out: Out) -> Option<End> {
    match out {
        Out::Frame(frame) => {
            let sent = line.send(stream.frame(frame.to_string())).await;
            sent.is_err().then_some((None, true))
        }
        Out::Close(code) => Some(close(line, code).await),
        Out::Cut => Some((None, false)),
    }
}

async fn close(line: &mut Line, code: u16) -> End {
    let frame = CloseFrame { code: code.into(), reason: "".into() };
    // A client that is gone needs no close frame. Others shall have read it before the connection ends.
    drop(line.close(Some(frame)).await);
    drop(timeout(GOODBYE_WAIT, async { while let Some(Ok(_)) = line.next().await {} }).await);
    (Some(code), false)
}
