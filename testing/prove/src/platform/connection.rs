//! Holds one keep-alive connection to a node.

use std::io::Write as _;
use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use nightdesk_testkit::scripted::{SIGNATURE_HEADER, sign};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::gateway::wire::{head_end, status};
use crate::setup::SharedBot;

const ANSWER_BYTES: usize = 512;

/// Header before the length of a response's body.
const LENGTH: &str = "content-length: ";

/// A connection that posts one event or letter at a time.
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

    /// Posts a body as a bot's platform would, and waits for the status. After any status other than 200 the connection
    /// is unusable.
    pub(crate) async fn post(&mut self, bot: &SharedBot, body: &[u8]) -> Result<u16> {
        self.begin(bot, body).await?;
        self.answered().await
    }

    /// Posts a body without waiting for the response.
    pub(crate) async fn begin(&mut self, bot: &SharedBot, body: &[u8]) -> Result<()> {
        let signature = sign(&bot.key, body);
        self.say(("/hooks/", &bot.path), (SIGNATURE_HEADER, &signature), body).await
    }

    /// Posts a letter with this bearer token, and waits for the status as after an event.
    pub(super) async fn write(&mut self, bearer: &str, letter: &[u8]) -> Result<u16> {
        self.say(("/v1/", "letters"), ("authorization", bearer), letter).await?;
        self.answered().await
    }

    async fn say(
        &mut self,
        (before, path): (&str, &str),
        (header, value): (&str, &str),
        body: &[u8],
    ) -> Result<()> {
        self.request.clear();
        write!(
            self.request,
            "POST {before}{path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n{header}: {value}\r\n\r\n",
            self.desk,
            body.len(),
        )?;
        self.request.extend_from_slice(body);
        self.stream.write_all(&self.request).await.context("could not post an event")
    }

    async fn answered(&mut self) -> Result<u16> {
        self.answer.clear();
        while !is_whole(&self.answer) {
            let read = self.stream.read_buf(&mut self.answer).await;
            ensure!(read.context("could not read an answer")? > 0, "the desk hung up unanswered");
            if let Some(status) = status(&self.answer).filter(|status| *status != 200) {
                return Ok(status);
            }
        }
        status(&self.answer).context("the desk's answer has no status")
    }

    /// Closes the connection at once, also in the middle of a request.
    pub(crate) fn hang_up(self) {
        // If this fails, the socket closes normally, which is also acceptable.
        self.stream.set_zero_linger().ok();
    }
}

/// Returns true if a response is complete, with the body that its head announces.
fn is_whole(answer: &[u8]) -> bool {
    let Some(begin) = head_end(answer) else { return false };
    let head = std::str::from_utf8(&answer[..begin]).unwrap_or_default();
    let length = head.lines().find_map(|line| line.strip_prefix(LENGTH)?.parse().ok());
    answer.len() >= begin + length.unwrap_or(0_usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_with_its_body() {
        let cases = [
            ("a part of a head", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n", false),
            ("no body", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", true),
            ("no word of a body", "HTTP/1.1 200 OK\r\n\r\n", true),
            ("a part of a body", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{", false),
            ("a body", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", true),
        ];
        for (name, answer, want) in cases {
            assert_eq!(is_whole(answer.as_bytes()), want, "{name}");
        }
    }
}
