//! Connects a socket to the desk: dial, upgrade, hello; then bytes in both directions.

use std::fmt;
use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use nightdesk_protocol::Frame;
use nightdesk_protocol::hello::{ClientVersion, Hello};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::wire::{self, Said};
use crate::setup::PLATFORM;

/// Capacity of the read buffer: a few entries.
const READ_BYTES: usize = 4 * 1024;

/// An open socket.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    /// Received bytes that are not handled yet.
    pub(crate) heard: Vec<u8>,
    /// Bytes to send.
    pub(crate) saying: Vec<u8>,
}

/// The reason that there is no line.
#[derive(Debug)]
pub(crate) enum NoLine {
    /// The desk upgraded the connection and closed it with this code.
    Closed(u16),
    /// The desk answered the upgrade with this status.
    Refused(u16),
    /// Any other error.
    Broken(anyhow::Error),
}

impl fmt::Display for NoLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(code) => write!(f, "the desk closed with {code}"),
            Self::Refused(status) => write!(f, "the desk answered {status}"),
            Self::Broken(error) => write!(f, "{error:#}"),
        }
    }
}

impl std::error::Error for NoLine {}

impl From<anyhow::Error> for NoLine {
    fn from(error: anyhow::Error) -> Self {
        Self::Broken(error)
    }
}

impl Socket {
    /// Dials in and sends a hello. Returns when the desk has answered it.
    pub(crate) async fn dial(desk: SocketAddr, token: &str) -> Result<Self, NoLine> {
        let mut socket = Self::upgrade(desk, token).await?;
        socket.greet().await?;
        Ok(socket)
    }

    /// Dials in. Returns when the desk has upgraded the connection.
    pub(crate) async fn upgrade(desk: SocketAddr, token: &str) -> Result<Self, NoLine> {
        let stream = TcpStream::connect(desk).await.context("could not connect")?;
        stream.set_nodelay(true).context("could not send at once")?;
        let mut socket = Self { stream, heard: Vec::with_capacity(READ_BYTES), saying: Vec::new() };
        socket.saying.extend_from_slice(wire::upgrade(desk, token).as_bytes());
        socket.say().await?;
        socket.upgraded().await?;
        Ok(socket)
    }

    /// Sends a hello. Returns when the desk has answered it.
    pub(crate) async fn greet(&mut self) -> Result<(), NoLine> {
        self.speak_for(PLATFORM)?;
        self.say().await?;
        self.greeted().await
    }

    /// Queues a hello for a platform.
    pub(crate) fn speak_for(&mut self, platform: &str) -> Result<()> {
        let hello = Frame::hello(&hello(platform)).context("could not write a hello")?;
        wire::put_text(&mut self.saying, hello.as_str().as_bytes());
        Ok(())
    }

    /// Waits for more bytes.
    pub(crate) async fn hear(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.heard).await.context("could not read")?;
        ensure!(read > 0, "the desk hung up");
        Ok(())
    }

    /// Sends the queued bytes.
    pub(crate) async fn say(&mut self) -> Result<()> {
        self.stream.write_all(&self.saying).await.context("could not write")?;
        self.saying.clear();
        Ok(())
    }

    /// Ends the connection with a reset, as a network failure would.
    pub(crate) fn reset(self) {
        // If this fails, the socket closes normally, which is also acceptable.
        self.stream.set_zero_linger().ok();
    }

    async fn upgraded(&mut self) -> Result<(), NoLine> {
        let head = loop {
            if let Some(end) = wire::head_end(&self.heard) {
                break end;
            }
            self.hear().await?;
        };
        let status = wire::status(&self.heard).context("the desk's answer has no status")?;
        self.heard.drain(..head);
        if status == 101 { Ok(()) } else { Err(NoLine::Refused(status)) }
    }

    async fn greeted(&mut self) -> Result<(), NoLine> {
        loop {
            match wire::first_frame(&self.heard)? {
                Some((Said::Text(text), length)) if wire::is_descriptor(text) => {
                    self.heard.drain(..length);
                    return Ok(());
                }
                Some((Said::Closed(code), _)) => return Err(NoLine::Closed(code)),
                Some(_) => return Err(anyhow::anyhow!("the hello got no answer").into()),
                None => self.hear().await?,
            }
        }
    }
}

/// Returns a hello that names the client, so that the desk does not delay entries as for a slowly booting client.
pub(crate) fn hello(platform: &str) -> Hello {
    let client = ClientVersion { name: "nightdesk-prove".to_owned(), version: "0".to_owned() };
    Hello {
        platform: platform.to_owned(),
        bot_handle: String::new(),
        commands: None,
        client: Some(client),
    }
}
