//! An HTTP test server that records each request and returns 200.

#![expect(clippy::expect_used, reason = "a stage that cannot be set up should stop")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Heard {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

pub(super) struct Host {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Host {
    /// Starts a server that runs as long as the process.
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let heard = Arc::<Mutex<Vec<Heard>>>::default();
        let notes = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // An incomplete request is not recorded.
                drop(take(stream, &notes));
            }
        });
        Self { address, heard }
    }

    pub(super) const fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn keep(notes: &Mutex<Vec<Heard>>, one: Heard) {
    notes.lock().unwrap_or_else(PoisonError::into_inner).push(one);
}

/// Records a request before the response, so that a client with a response finds it here.
fn take(mut stream: TcpStream, notes: &Mutex<Vec<Heard>>) -> std::io::Result<()> {
    keep(notes, hear(&stream)?);
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
}

fn hear(stream: &TcpStream) -> std::io::Result<Heard> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let mut heard = Heard { path, headers, body: String::new() };
    let length = heard.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    reader.take(length).read_to_string(&mut heard.body)?;
    Ok(heard)
}
