//! One trace follows a message from the platform's request to the agent's ack.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use nightdesk_sdk::{Agent, Settings};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::docs::entered_on;
use crate::webchat::{opened, written};

/// Starts a collector of a node's traces. Returns its port and a channel of the bodies.
fn collector() -> (u16, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("a bound port").port();
    let (put, came) = channel();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let put = put.clone();
            thread::spawn(
                move || while taken(&stream).is_some_and(|body| put.send(body).is_ok()) {},
            );
        }
    });
    (port, came)
}

/// Reads the body of one request, and answers it.
fn taken(stream: &TcpStream) -> Option<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut bytes) = (String::new(), 0);
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            bytes = length.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    let mut stream = stream;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
    (bytes > 0).then_some(body)
}

/// Returns the trace ids in a message of the collector's protocol: each span begins with one, as sixteen bytes in field
/// 1, and its own id follows as eight bytes in field 2.
fn trace_ids(bytes: &[u8]) -> BTreeSet<Vec<u8>> {
    let span = |bytes: &&[u8]| bytes.starts_with(&[0x0a, 16]) && bytes[18..20] == [0x12, 8];
    bytes.windows(20).filter(span).map(|bytes| bytes[2..18].to_vec()).collect()
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn one_trace_goes_from_the_request_to_the_ack() {
    let (port, came) = collector();
    let traces = format!("[traces]\notlp_url = \"http://127.0.0.1:{port}/v1/traces\"\n");
    let (mut desk, mut entered) = entered_on(&traces);
    let path = opened(&desk, &mut entered);
    let runtime = Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    let (took, mut taken) = mpsc::channel(1);
    let url = format!("http://127.0.0.1:{}", desk.port);
    let settings = Settings::new(url, "gw-helper", entered.get("SECRET"));
    let agent = Agent::connect(settings, move |_| {
        let took = took.clone();
        async move { took.send(()).await }
    });
    let agent = agent.expect("good settings");
    runtime.block_on(agent.handshake()).expect("a line");

    let sent = written(&desk, &path, "canary-trace");
    assert!(sent.contains("200 OK"), "{sent}");
    runtime.block_on(taken.recv()).expect("the agent took it");
    // The agent leaves after its ack.
    runtime.block_on(agent.go_idle());
    desk.stop();
    let sent: Vec<u8> = came.try_iter().flatten().collect();
    for step in ["take", "put", "hand over", "desk-1"] {
        assert!(has(&sent, step), "{step}");
    }
    assert_eq!(trace_ids(&sent).len(), 1, "all of it is one trace");
    assert!(!has(&sent, "canary"), "no text is in a trace");
}
