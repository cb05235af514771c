//! The desk posts entries to an agent's URL, and the response is the agent's answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::desk::wait_until;
use crate::waking::asleep;
use crate::webchat::written;

const PATIENCE: Duration = Duration::from_secs(30);

/// A request as the agent got it.
pub(crate) struct Posted {
    head: String,
    pub(crate) frame: Value,
}

impl Posted {
    fn header(&self, name: &str) -> &str {
        let found = self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.unwrap_or_default()
    }
}

/// Starts an agent that answers each request with its text, and reports the requests.
pub(crate) fn agent() -> (u16, Receiver<Posted>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("a bound port").port();
    let (put, came) = channel();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            if answered(&stream).is_none_or(|posted| put.send(posted).is_err()) {
                break;
            }
        }
    });
    (port, came)
}

/// Reads a request and answers it.
fn answered(mut stream: &TcpStream) -> Option<Posted> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).ok()? > 0 {}
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let frame: Value = serde_json::from_slice(&body).ok()?;
    let answer = format!("you said {}", frame["event"]["text"].as_str()?);
    let response = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
        answer.len()
    );
    stream.write_all(response.as_bytes()).ok()?;
    Some(Posted { head, frame })
}

#[test]
fn a_message_is_posted_and_the_response_is_the_answer() {
    let (port, posts) = agent();
    let (mut desk, _entered, path) = asleep(port, "");
    let set = format!(
        "nightdesk agent webhook --tenant acme --agent helper http://127.0.0.1:{port}/entries"
    );
    assert!(desk.run(&set, &[]).contains("whsec_"));

    assert!(written(&desk, &path, "hello").contains("200 OK"));
    let posted = posts.recv_timeout(PATIENCE).expect("it is posted");
    assert!(posted.head.starts_with("POST /entries HTTP/1.1\r\n"), "{}", posted.head);
    assert_eq!(posted.header("webhook-id"), posted.frame["bufferId"].as_str().unwrap_or_default());
    assert!(posted.header("webhook-signature").starts_with("v1,"), "{}", posted.head);
    assert!(posted.header("webhook-timestamp").parse::<i64>().is_ok(), "{}", posted.head);
    let status = "nightdesk wake status --tenant acme --agent helper";
    wait_until("the answer is sent and the entry acknowledged", || {
        let status = desk.run(status, &[]);
        status.contains("waiting: 0") && status.contains("transport: webhook")
    });
    let answers = desk.sql("select count(*) from sends where state = 'settled'");
    assert_eq!(answers.trim(), "1", "the answer was sent once");
    desk.stop();
}
