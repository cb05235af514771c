//! Forwards a node's connections, so that they can be cut and slowed down.
//!
//! A cut wire drops nothing and closes nothing, like a network that drops every packet: neither side learns that the
//! other is gone. After the repair, the bytes sent meanwhile arrive. A slow wire delays every byte, or limits the bytes
//! per second of each connection and direction.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::chance::Dice;
use crate::worker;

const BYTES_MAX: usize = 16 * 1024;

/// Maximum number of reads that wait in a wire. After that its sender has to wait.
const READS_MAX: usize = 16;

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
    /// Set the condition of the wires that begin at these addresses. All others become whole.
    Set(Vec<SocketAddr>, Condition),
}

/// Condition of a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Condition {
    /// Bytes arrive at once.
    #[default]
    Whole,
    /// No byte arrives.
    Cut,
    /// Each byte arrives late, by a random time between the two.
    Late {
        /// Least delay in milliseconds.
        least_ms: u64,
        /// Greatest delay in milliseconds.
        most_ms: u64,
    },
    /// Only so many bytes arrive per second.
    Narrow {
        /// Bytes per second.
        bytes_per_s: u64,
    },
}

impl Condition {
    /// Returns the delay of bytes that are read now.
    fn delay(self, dice: &mut Dice) -> Duration {
        match self {
            Self::Late { least_ms, most_ms } => dice.between_ms(least_ms, most_ms),
            Self::Whole | Self::Cut | Self::Narrow { .. } => Duration::ZERO,
        }
    }

    /// Returns the time for which so many bytes occupy the wire.
    fn takes(self, bytes: usize) -> Duration {
        match self {
            Self::Narrow { bytes_per_s } => {
                Duration::from_millis(bytes as u64 * 1_000 / bytes_per_s.max(1))
            }
            Self::Whole | Self::Cut | Self::Late { .. } => Duration::ZERO,
        }
    }
}

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let (set, conditions) = watch::channel(BTreeMap::new());
    let set = Arc::new(set);
    let mut wires = JoinSet::new();
    for (from, to) in arguments.from.iter().zip(&arguments.to) {
        let listener = TcpListener::bind(from).await.context("could not begin a wire")?;
        wires.spawn(lead(listener, Wire { from: *from, to: *to, conditions: conditions.clone() }));
    }
    worker::answer(async |Order::Set(wires, condition)| {
        set.send_replace(wires.into_iter().map(|wire| (wire, condition)).collect());
        Ok(())
    })
    .await
}

#[derive(Clone, Debug)]
struct Wire {
    from: SocketAddr,
    to: SocketAddr,
    conditions: watch::Receiver<BTreeMap<SocketAddr, Condition>>,
}

impl Wire {
    fn condition(&self) -> Condition {
        self.conditions.borrow().get(&self.from).copied().unwrap_or_default()
    }

    async fn is_not_cut(&mut self) {
        let from = self.from;
        // If the sender is gone, the wire stays as it is.
        drop(self.conditions.wait_for(|all| all.get(&from) != Some(&Condition::Cut)).await);
    }

    async fn is_whole(&mut self) {
        let from = self.from;
        drop(self.conditions.wait_for(|all| !all.contains_key(&from)).await);
    }

    /// Waits until these bytes arrive: at their time, or at once when the wire becomes whole.
    async fn arrived(&mut self, due: Instant) {
        tokio::select! {
            () = sleep_until(due) => {}
            () = self.is_whole() => {}
        }
        self.is_not_cut().await;
    }

    /// Waits until so many bytes have left the wire.
    async fn passed(&mut self, bytes: usize) {
        let takes = self.condition().takes(bytes);
        tokio::select! {
            () = sleep(takes) => {}
            () = self.is_whole() => {}
        }
    }
}

/// Bytes in a wire, and the time at which they arrive.
#[derive(Debug)]
struct Passage {
    due: Instant,
    bytes: Vec<u8>,
}

async fn lead(listener: TcpListener, wire: Wire) {
    let mut led = JoinSet::new();
    while let Ok((near, _)) = listener.accept().await {
        led.spawn(both_ways(near, wire.clone()));
        while led.try_join_next().is_some() {}
    }
}

async fn both_ways(near: TcpStream, mut wire: Wire) {
    wire.is_not_cut().await;
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

async fn one_way(from: OwnedReadHalf, to: OwnedWriteHalf, wire: Wire) {
    let (put, passages) = mpsc::channel(READS_MAX);
    let reading = read(from, put, wire.clone());
    tokio::join!(reading, write(passages, to, wire));
}

async fn read(mut from: OwnedReadHalf, put: mpsc::Sender<Passage>, wire: Wire) {
    let mut dice = Dice::of(u64::from(wire.from.port()), 0);
    let mut bytes = vec![0; BYTES_MAX];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        let due = Instant::now() + wire.condition().delay(&mut dice);
        if put.send(Passage { due, bytes: bytes[..read].to_vec() }).await.is_err() {
            return;
        }
    }
}

async fn write(mut passages: mpsc::Receiver<Passage>, mut to: OwnedWriteHalf, mut wire: Wire) {
    while let Some(Passage { due, bytes }) = passages.recv().await {
        wire.arrived(due).await;
        if to.write_all(&bytes).await.is_err() {
            return;
        }
        wire.passed(bytes.len()).await;
    }
    // While the wire is cut, neither side learns that the other closed its connection.
    wire.is_not_cut().await;
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);
    const A_WHILE: Duration = Duration::from_millis(100);

    /// A wire with a connection through it.
    struct Connected {
        set: watch::Sender<BTreeMap<SocketAddr, Condition>>,
        from: SocketAddr,
        says: TcpStream,
        listens: TcpStream,
        _wires: JoinSet<()>,
    }

    impl Connected {
        async fn open() -> Self {
            let far = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let near = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let (from, to) = (near.local_addr().unwrap(), far.local_addr().unwrap());
            let (set, conditions) = watch::channel(BTreeMap::new());
            let mut wires = JoinSet::new();
            wires.spawn(lead(near, Wire { from, to, conditions }));
            let says = TcpStream::connect(from).await.unwrap();
            let (listens, _) = far.accept().await.unwrap();
            Self { set, from, says, listens, _wires: wires }
        }

        fn set(&self, condition: Condition) {
            self.set.send_replace(BTreeMap::from([(self.from, condition)]));
        }

        fn mend(&self) {
            self.set.send_replace(BTreeMap::new());
        }
    }

    #[tokio::test]
    async fn what_is_said_while_a_wire_is_cut_arrives_once_it_is_mended() {
        let mut wire = Connected::open().await;

        wire.set(Condition::Cut);
        wire.says.write_all(b"hello").await.unwrap();
        wire.says.shutdown().await.unwrap();
        let mut heard = String::new();
        let cut = timeout(A_WHILE, wire.listens.read_to_string(&mut heard)).await;
        assert!(cut.is_err(), "it is cut");

        wire.mend();
        timeout(SOON, wire.listens.read_to_string(&mut heard)).await.unwrap().unwrap();
        assert_eq!(heard, "hello");
    }

    #[tokio::test]
    async fn a_late_wire_delays_bytes_until_it_is_mended() {
        let mut wire = Connected::open().await;

        wire.set(Condition::Late { least_ms: 3_600_000, most_ms: 3_600_000 });
        wire.says.write_all(b"hello").await.unwrap();
        let mut heard = [0; 5];
        assert!(timeout(A_WHILE, wire.listens.read_exact(&mut heard)).await.is_err(), "it is late");

        wire.mend();
        timeout(SOON, wire.listens.read_exact(&mut heard)).await.unwrap().unwrap();
        assert_eq!(&heard, b"hello");
    }

    #[test]
    fn a_narrow_wire_takes_time_for_its_bytes() {
        let narrow = Condition::Narrow { bytes_per_s: 8_000 };

        assert_eq!(narrow.takes(2_000), Duration::from_millis(250));
        assert_eq!(Condition::Whole.takes(2_000), Duration::ZERO);
        let late = Condition::Late { least_ms: 100, most_ms: 300 };
        let delay = late.delay(&mut Dice::of(1, 1));
        assert!((100..=300).contains(&delay.as_millis()), "{delay:?}");
    }
}
