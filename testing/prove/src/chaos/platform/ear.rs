//! Takes the desk's calls to the platform.

use std::sync::Arc;

use nightdesk_judge::Event;
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::{Square, is_of_agent, request_in};

/// The body that a bot of the scripted platform posts.
#[derive(Debug, Deserialize)]
struct Call {
    bot: String,
    send: Said,
    capability: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Said {
    op: String,
    chat_id: String,
    content: Option<String>,
}

/// Takes every call.
pub(super) async fn listen(square: Arc<Square>) {
    // Without it every send fails, and the judge reports that.
    let Ok(listener) = TcpListener::bind(square.plan.deliver).await else { return };
    let mut callers = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        callers.spawn(answer(Arc::clone(&square), stream));
    }
}

async fn answer(square: Arc<Square>, mut stream: TcpStream) {
    while let Some(call) = call(&mut stream).await {
        let body = json!({ "message_id": format!("m-{}", call.send.chat_id) }).to_string();
        note(&square, call);
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn note(square: &Square, call: Call) {
    let Call { bot, send: Said { op, chat_id: chat, content }, capability } = call;
    let text = content.unwrap_or_default();
    if let Some(capability) = capability {
        square.notes.note(Event::PlatFollowed { bot, chat, capability, request: text });
        return;
    }
    square.notes.note(if op == "send" && is_of_agent(&text) {
        let request = request_in(&text);
        Event::PlatEgress { bot, chat, nonce: text, request }
    } else {
        Event::PlatShown { bot, chat, text }
    });
}

/// Reads the call of one request as soon as it is complete.
async fn call(stream: &mut TcpStream) -> Option<Call> {
    let mut request = Vec::new();
    loop {
        if stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
        let body = request.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4);
        if let Some(call) = body.and_then(|at| serde_json::from_slice(&request[at..]).ok()) {
            return Some(call);
        }
    }
}
