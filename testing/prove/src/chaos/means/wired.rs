//! Starts a node between wires that can be cut and slowed down.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use nightdesk_judge::monotonic_ns;

use crate::chaos::wires::{Condition, Order};
use crate::chaos::world::World;
use crate::cluster::APP_ROLE;
use crate::desk::free_address;
use crate::stage::DATABASE;
use crate::worker::Worker;

/// Time limit for the node to listen. The machine may be busy.
const LISTENS_WITHIN: Duration = Duration::from_secs(45);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The wires around a node. Dropping them ends their process.
#[derive(Debug)]
pub(in crate::chaos) struct Wires {
    worker: Worker,
    /// Index of the node.
    pub(in crate::chaos) node: usize,
    /// The address on which the node itself listens.
    inner: SocketAddr,
    /// The node's public address, where the wire of gateways and platforms begins.
    pub(in crate::chaos) public: SocketAddr,
    /// Beginning of the wire to PostgreSQL.
    pub(in crate::chaos) postgres: SocketAddr,
    /// Beginning of the wire to Redis, if there is one.
    pub(in crate::chaos) redis: Option<SocketAddr>,
}

impl Wires {
    /// Ends a node, and starts it anew between wires. A fault of this number prepares itself with that.
    pub(in crate::chaos) fn around(
        world: &mut World,
        node: usize,
        number: &'static str,
    ) -> Result<Self> {
        let preparation = world.strikes(number, world.nodes[node].name());
        world.nodes[node].kill()?;
        let mut wires = Self::put(world, node)?;
        wires.start(world)?;
        world.made_ready(&preparation);
        Ok(wires)
    }

    /// Starts the node without wires again.
    pub(in crate::chaos) fn remove(self, world: &mut World, number: &'static str) -> Result<()> {
        let node = self.node;
        let removal = world.strikes(number, world.nodes[node].name());
        world.nodes[node].kill()?;
        drop(self);
        world.nodes[node].start()?;
        world.made_ready(&removal);
        Ok(())
    }

    fn put(world: &World, node: usize) -> Result<Self> {
        let (inner, postgres) = (free_address()?, free_address()?);
        let public = world.nodes[node].address();
        let redis = world.redis.as_ref().map(|_| free_address()).transpose()?;
        let mut ends = vec![(public, inner), (postgres, here(world.cluster.port()))];
        ends.extend(redis.zip(world.redis.as_ref()).map(|(at, redis)| (at, here(redis.port()))));
        let mut arguments = vec!["chaos-wires".to_owned()];
        for (from, to) in ends {
            arguments.extend([format!("--from={from}"), format!("--to={to}")]);
        }
        let worker = Worker::start(world.cluster.folder(), &arguments)?;
        Ok(Self { worker, node, inner, public, postgres, redis })
    }

    /// Starts the node between mended wires.
    pub(in crate::chaos) fn start(&mut self, world: &mut World) -> Result<()> {
        self.mend()?;
        let Self { inner, postgres, redis, .. } = self;
        let mut told = vec![
            ("NIGHTDESK__LISTEN__ADDRESS", inner.to_string()),
            ("NIGHTDESK__DATABASE__URL", format!("postgres://{APP_ROLE}@{postgres}/{DATABASE}")),
        ];
        told.extend(redis.map(|redis| ("NIGHTDESK__REDIS__URL", format!("redis://{redis}/"))));
        world.nodes[self.node].start_with(&told)?;
        // At the node's public address the wire listens.
        let deadline = Instant::now() + LISTENS_WITHIN;
        while TcpStream::connect(self.inner).is_err() {
            ensure!(Instant::now() < deadline, "a node does not listen behind its wires");
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Returns the beginnings of all wires.
    pub(in crate::chaos) fn all(&self) -> Vec<SocketAddr> {
        [self.public, self.postgres].into_iter().chain(self.redis).collect()
    }

    /// Sets the condition of the wires that begin at these addresses; the others become whole. Returns the time.
    pub(in crate::chaos) fn set(
        &mut self,
        wires: &[SocketAddr],
        condition: Condition,
    ) -> Result<u64> {
        self.worker.ask::<()>(&Order::Set(wires.to_vec(), condition))?;
        Ok(monotonic_ns())
    }

    /// Makes all wires whole.
    pub(in crate::chaos) fn mend(&mut self) -> Result<()> {
        self.set(&[], Condition::Whole).map(drop)
    }
}

fn here(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}
