//! One connection to a webhook, kept alive.

use std::io::Write as _;
use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use nightdesk_testkit::scripted::{SIGNATURE_HEADER, sign};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::gateway::wire::status;
use crate::setup::SharedBot;

const ANSWER_BYTES: usize = 512;

/// What the head of an HTTP message ends with.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// A connection on which one event at a time is posted.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    desk: SocketAddr,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(desk: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(desk).await.context("could not reach the webhook")?;
        stream.set_nodelay(true).context("could not send at once")?;
        let answer = Vec::with_capacity(ANSWER_BYTES);
        Ok(Self { stream, desk, request: Vec::new(), answer })
    }

    /// Posts a body as a bot's platform would, and waits for the status. After any other than
    /// "200" the connection is of no more use.
    pub(crate) async fn post(&mut self, bot: &SharedBot, body: &[u8]) -> Result<u16> {
        self.begin(bot, body).await?;
        self.answer.clear();
        while !self.answer.ends_with(HEAD_END) {
            let read = self.stream.read_buf(&mut self.answer).await;
            ensure!(read.context("could not read an answer")? > 0, "the desk hung up unanswered");
            if let Some(status) = status(&self.answer).filter(|status| *status != 200) {
                return Ok(status);
            }
        }
        status(&self.answer).context("the desk's answer has no status")
    }

    /// Posts a body and does not wait.
    pub(crate) async fn begin(&mut self, bot: &SharedBot, body: &[u8]) -> Result<()> {
        self.request.clear();
        write!(
            self.request,
            "POST /hooks/{} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n{SIGNATURE_HEADER}: {}\r\n\r\n",
            bot.path,
            self.desk,
            body.len(),
            sign(&bot.key, body)
        )?;
        self.request.extend_from_slice(body);
        self.stream.write_all(&self.request).await.context("could not post an event")
    }

    /// Ends it at once, whatever is under way.
    pub(crate) fn hang_up(self) {
        // Without it the socket closes politely, which does as well.
        self.stream.set_zero_linger().ok();
    }
}
