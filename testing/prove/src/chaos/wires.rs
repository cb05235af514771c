//! Forwards a node's connections, so that they can be cut.
//!
//! A cut wire drops nothing and closes nothing, like a network that drops every packet: neither side learns that the
//! other is gone. After the repair, the bytes sent meanwhile arrive.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::worker;

const BYTES_MAX: usize = 16 * 1024;

/// Arguments of the process.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Address at which each wire begins.
    #[arg(long)]
    from: Vec<SocketAddr>,
    /// Address at which each wire ends.
    #[arg(long)]
    to: Vec<SocketAddr>,
}

/// Commands to the wires.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Cut the wire that begins at this address.
    Cut(SocketAddr),
    /// Repair all wires.
    Mend,
}

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let (cut, is_cut) = watch::channel(None);
    let cut = Arc::new(cut);
    let mut wires = JoinSet::new();
    for (from, to) in arguments.from.iter().zip(&arguments.to) {
        let listener = TcpListener::bind(from).await.context("could not begin a wire")?;
        wires.spawn(lead(listener, Wire { from: *from, to: *to, is_cut: is_cut.clone() }));
    }
    worker::answer(async |order| {
        match order {
            Order::Cut(wire) => cut.send_replace(Some(wire)),
            Order::Mend => cut.send_replace(None),
        };
        Ok(())
    })
    .await
}

#[derive(Clone, Debug)]
struct Wire {
    from: SocketAddr,
    to: SocketAddr,
    is_cut: watch::Receiver<Option<SocketAddr>>,
}

impl Wire {
    async fn is_whole(&mut self) {
        let from = self.from;
        // If the sender is gone, the wire stays as it is.
        drop(self.is_cut.wait_for(|cut| *cut != Some(from)).await);
    }
}

async fn lead(listener: TcpListener, wire: Wire) {
    let mut led = JoinSet::new();
    while let Ok((near, _)) = listener.accept().await {
        led.spawn(both_ways(near, wire.clone()));
        while led.try_join_next().is_some() {}
    }
}

async fn both_ways(near: TcpStream, mut wire: Wire) {
    wire.is_whole().await;
    let Ok(far) = TcpStream::connect(wire.to).await else { return };
    // Without it the connection is only slower.
    drop((near.set_nodelay(true), far.set_nodelay(true)));
    let (near_read, near_write) = near.into_split();
    let (far_read, far_write) = far.into_split();
    // When one direction ends, so does the other.
    tokio::select! {
        () = one_way(near_read, far_write, wire.clone()) => {}
        () = one_way(far_read, near_write, wire) => {}
    }
}

async fn one_way(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut wire: Wire) {
    let mut bytes = vec![0; BYTES_MAX];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        wire.is_whole().await;
        if to.write_all(&bytes[..read]).await.is_err() {
            break;
        }
    }
    // While the wire is cut, neither side learns that the other closed its connection.
    wire.is_whole().await;
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);
    const A_WHILE: Duration = Duration::from_millis(100);

    #[tokio::test]
    async fn what_is_said_while_a_wire_is_cut_arrives_once_it_is_mended() {
        let far = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (from, to) = (near.local_addr().unwrap(), far.local_addr().unwrap());
        let (cut, is_cut) = watch::channel(None);
        let mut wires = JoinSet::new();
        wires.spawn(lead(near, Wire { from, to, is_cut }));
        let mut says = TcpStream::connect(from).await.unwrap();
        let (mut listens, _) = far.accept().await.unwrap();

        cut.send_replace(Some(from));
        says.write_all(b"hello").await.unwrap();
        drop(says);
        let mut heard = String::new();
        assert!(timeout(A_WHILE, listens.read_to_string(&mut heard)).await.is_err(), "it is cut");

        cut.send_replace(None);
        timeout(SOON, listens.read_to_string(&mut heard)).await.unwrap().unwrap();
        assert_eq!(heard, "hello");
    }
}
