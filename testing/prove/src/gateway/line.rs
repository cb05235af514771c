//! Holds one line open, and acks every entry.

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
    /// Index of its member.
    member: usize,
    /// Index of its node, and the number of nodes.
    node: (u64, usize),
    /// Entries whose acks are about to be sent.
    acking: Vec<Seen>,
}

impl Line {
    /// Dials in and sends a hello. Returns when the desk has answered it.
    pub(super) async fn dial(
        nodes: &[SocketAddr],
        token: &str,
        member: usize,
    ) -> Result<Self, NoLine> {
        let socket = Socket::dial(node_of(member, nodes), token).await?;
        Ok(Self::on(socket, member, nodes.len()))
    }

    /// Returns a line on a greeted socket to one of `nodes` nodes.
    pub(super) const fn on(socket: Socket, member: usize, nodes: usize) -> Self {
        Self { socket, member, node: ((member % nodes) as u64, nodes), acking: Vec::new() }
    }

    /// Returns the index of its member.
    pub(super) const fn member(&self) -> usize {
        self.member
    }

    /// Acks entries and answers pings until the line ends. Returns the reason.
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

    /// Returns the number of pending acks whose entry came in through another node.
    fn crossed(&self) -> u64 {
        let (own, nodes) = self.node;
        let elsewhere = |seen: &&Seen| posted_to(seen.event, nodes) != own;
        self.acking.iter().filter(elsewhere).count() as u64
    }

    /// Encodes the acks and pongs for the received frames. Returns the number of pings.
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

/// Returns the node of a member's line, round-robin.
pub(super) fn node_of(member: usize, nodes: &[SocketAddr]) -> SocketAddr {
    nodes[member % nodes.len()]
}
