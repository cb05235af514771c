//! One line: dialled, greeted, and held open.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail, ensure};
use nightdesk_protocol::Frame;
use nightdesk_protocol::hello::{Client, Hello};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Book;
use super::wire::{self, Said};
use crate::history::Seen;
use crate::setup::PLATFORM;

/// Room for what comes at a time: a few entries.
const READ_BYTES: usize = 4 * 1024;

/// An open line.
#[derive(Debug)]
pub(super) struct Line {
    stream: TcpStream,
    /// Whose it is.
    member: usize,
    /// What came and was not dealt with yet.
    heard: Vec<u8>,
    /// What is to be said.
    saying: Vec<u8>,
    /// The entries whose acks are in it.
    acking: Vec<Seen>,
}

impl Line {
    /// Dials in and says hello; returns when the desk has answered it.
    pub(super) async fn dial(desk: SocketAddr, token: &str, member: usize) -> Result<Self> {
        let stream = TcpStream::connect(desk).await.context("could not connect")?;
        stream.set_nodelay(true).context("could not send at once")?;
        let heard = Vec::with_capacity(READ_BYTES);
        let mut line = Self { stream, member, heard, saying: Vec::new(), acking: Vec::new() };
        line.stream.write_all(wire::upgrade(desk, token).as_bytes()).await?;
        line.upgraded().await?;
        let hello = Frame::hello(&hello())?;
        wire::put_text(&mut line.saying, hello.as_str().as_bytes());
        line.say().await?;
        line.greeted().await?;
        Ok(line)
    }

    /// Acks entries and answers pings until the line ends, and says why it did.
    pub(super) async fn hold(&mut self, book: &Book) -> Result<()> {
        loop {
            let pings = self.answer()?;
            book.pings.fetch_add(pings, Ordering::Relaxed);
            if !self.saying.is_empty() {
                self.say().await?;
                book.acked.note(&self.acking);
                self.acking.clear();
            }
            self.hear().await?;
        }
    }

    async fn upgraded(&mut self) -> Result<()> {
        let head = loop {
            if let Some(end) = wire::head_end(&self.heard) {
                break end;
            }
            self.hear().await?;
        };
        let status = String::from_utf8_lossy(&self.heard[..head]);
        let status = status.lines().next().unwrap_or_default();
        ensure!(status.starts_with("HTTP/1.1 101"), "the desk answered {status:?}");
        self.heard.drain(..head);
        Ok(())
    }

    async fn greeted(&mut self) -> Result<()> {
        loop {
            if let Some((said, length)) = wire::first_frame(&self.heard)? {
                ensure!(
                    matches!(said, Said::Text(text) if wire::is_descriptor(text)),
                    "the desk did not answer the hello"
                );
                self.heard.drain(..length);
                return Ok(());
            }
            self.hear().await?;
        }
    }

    /// Puts together what is to be said to what came; how many pings there were.
    fn answer(&mut self) -> Result<u64> {
        let (mut begun, mut pings) = (0, 0);
        while let Some((said, length)) = wire::first_frame(&self.heard[begun..])? {
            match said {
                Said::Text(text) => {
                    let Some(entry) = wire::entry(text) else { bail!("a frame of no use came") };
                    wire::put_ack(&mut self.saying, entry.buffer_id);
                    self.acking.push(Seen { agent: self.member, event: entry.event });
                }
                Said::Ping(payload) => {
                    wire::put_pong(&mut self.saying, payload);
                    pings += 1;
                }
                Said::Closed(code) => bail!("the desk closed with {code}"),
            }
            begun += length;
        }
        self.heard.drain(..begun);
        Ok(pings)
    }

    async fn hear(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.heard).await.context("could not read")?;
        ensure!(read > 0, "the desk hung up");
        Ok(())
    }

    async fn say(&mut self) -> Result<()> {
        self.stream.write_all(&self.saying).await.context("could not write")?;
        self.saying.clear();
        Ok(())
    }
}

/// It says what client it is, so that nothing is held back as for one that boots slowly.
fn hello() -> Hello {
    let client = Client { name: "nightdesk-prove".to_owned(), version: "0".to_owned() };
    Hello {
        platform: PLATFORM.to_owned(),
        bot_handle: String::new(),
        commands: None,
        client: Some(client),
    }
}
