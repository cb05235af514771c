//! One connection to the webhook, kept alive.

use std::io::Write as _;
use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use nightdesk_testkit::scripted::{SIGNATURE_HEADER, sign};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::setup::{self, Cast, PLATFORM};

/// What people write. With all that stands around it an entry has about 500 bytes. It holds
/// no quotation mark, so that gateways need not parse.
const TEXT: &str = "Could you look at the numbers of last night once more? The export from the \
    second warehouse came in late and I am not sure that it is in the report. If it is not, run \
    it again and tell me what has changed since Tuesday. Thanks a lot!";

const ANSWER_BYTES: usize = 512;

/// A connection on which one event at a time is posted.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    /// The request up to the length of its body.
    head: String,
    key: String,
    body: Vec<u8>,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(super) async fn open(desk: SocketAddr, cast: &Cast) -> Result<Self> {
        let stream = TcpStream::connect(desk).await.context("could not reach the webhook")?;
        stream.set_nodelay(true).context("could not send at once")?;
        let head = format!(
            "POST /hooks/{} HTTP/1.1\r\nhost: {desk}\r\ncontent-type: application/json\r\n",
            cast.path
        );
        Ok(Self {
            stream,
            head,
            key: cast.key.clone(),
            body: Vec::new(),
            request: Vec::new(),
            answer: Vec::with_capacity(ANSWER_BYTES),
        })
    }

    /// Posts an event by an agent's author. It is told "200", or this is an error.
    pub(super) async fn post(&mut self, agent: usize, event: u64) -> Result<()> {
        self.write(agent, event)?;
        self.stream.write_all(&self.request).await.context("could not post an event")?;
        self.answer.clear();
        while !self.answer.ends_with(b"\r\n\r\n") {
            let read = self.stream.read_buf(&mut self.answer).await;
            ensure!(read.context("could not read an answer")? > 0, "the desk hung up unanswered");
            ensure!(is_ok(&self.answer), "the desk did not take an event: {}", self.status());
        }
        Ok(())
    }

    fn write(&mut self, agent: usize, event: u64) -> Result<()> {
        self.body.clear();
        write!(
            self.body,
            "{{\"id\":\"e{event}\",\"event\":{{\"text\":\"{TEXT}\",\"message_type\":\"text\",\
             \"message_id\":\"e{event}\",\"source\":{{\"platform\":\"{PLATFORM}\",\
             \"chat_id\":\"{}\",\"chat_type\":\"dm\",\"user_id\":\"{}\",\
             \"user_name\":\"Ada\"}}}}}}",
            setup::chat(agent),
            setup::author(agent)
        )?;
        self.request.clear();
        write!(
            self.request,
            "{}content-length: {}\r\n{SIGNATURE_HEADER}: {}\r\n\r\n",
            self.head,
            self.body.len(),
            sign(&self.key, &self.body)
        )?;
        self.request.extend_from_slice(&self.body);
        Ok(())
    }

    fn status(&self) -> String {
        let answer = String::from_utf8_lossy(&self.answer);
        answer.lines().next().unwrap_or_default().to_owned()
    }
}

/// Whether an answer that may still be coming is a "200".
fn is_ok(answer: &[u8]) -> bool {
    const OK: &[u8] = b"HTTP/1.1 200";
    let begun = answer.len().min(OK.len());
    answer[..begun] == OK[..begun]
}
