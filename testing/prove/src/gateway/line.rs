//! One line: held open, every entry acked.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};

use super::Book;
use super::socket::{NoLine, Socket};
use super::wire::{self, Said};
use crate::history::Seen;
use crate::platform::posted_to;

/// An open line.
#[derive(Debug)]
pub(super) struct Line {
    socket: Socket,
    /// Whose it is.
    member: usize,
    /// On which node it is, of how many.
    node: (u64, usize),
    /// The entries whose acks are to be said.
    acking: Vec<Seen>,
}

impl Line {
    /// Dials in and says hello; returns when the desk has answered it.
    pub(super) async fn dial(
        nodes: &[SocketAddr],
        token: &str,
        member: usize,
    ) -> Result<Self, NoLine> {
        let socket = Socket::dial(node_of(member, nodes), token).await?;
        Ok(Self::on(socket, member, nodes.len()))
    }

    /// A line on a socket that was greeted, by one of so many nodes.
    pub(super) const fn on(socket: Socket, member: usize, nodes: usize) -> Self {
        Self { socket, member, node: ((member % nodes) as u64, nodes), acking: Vec::new() }
    }

    /// Whose it is.
    pub(super) const fn member(&self) -> usize {
        self.member
    }

    /// Acks entries and answers pings until the line ends, and says why it did.
    pub(super) async fn hold(&mut self, book: &Book) -> Result<(), NoLine> {
        loop {
            let pings = self.answer()?;
            book.pings.fetch_add(pings, Ordering::Relaxed);
            if !self.socket.saying.is_empty() {
                self.socket.say().await?;
                book.acked.note(&self.acking);
                book.crossed.fetch_add(self.crossed(), Ordering::Relaxed);
                self.acking.clear();
            }
            self.socket.hear().await?;
        }
    }

    /// How many of the entries that are being acked came in through another node.
    fn crossed(&self) -> u64 {
        let (own, nodes) = self.node;
        let elsewhere = |seen: &&Seen| posted_to(seen.event, nodes) != own;
        self.acking.iter().filter(elsewhere).count() as u64
    }

    /// Puts together what is to be said to what came; how many pings there were.
    fn answer(&mut self) -> Result<u64, NoLine> {
        let Socket { heard, saying, .. } = &mut self.socket;
        let (mut begun, mut pings) = (0, 0);
        while let Some((said, length)) = wire::first_frame(&heard[begun..])? {
            match said {
                Said::Text(text) => {
                    let entry = wire::entry(text).context("a frame of no use came")?;
                    wire::put_ack(saying, entry.buffer_id);
                    self.acking.push(Seen { agent: self.member, event: entry.event });
                }
                Said::Ping(payload) => {
                    wire::put_pong(saying, payload);
                    pings += 1;
                }
                Said::Pong => {}
                Said::Closed(code) => return Err(NoLine::Closed(code)),
            }
            begun += length;
        }
        heard.drain(..begun);
        Ok(pings)
    }
}

/// The node that a member's line is on: they take turns.
pub(super) fn node_of(member: usize, nodes: &[SocketAddr]) -> SocketAddr {
    nodes[member % nodes.len()]
}
