//! Cuts off a node: from PostgreSQL until other nodes consider it dead, from Redis, and from gateways and platforms.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use nightdesk_judge::monotonic_ns;

use super::owners::taken_for_dead;
use crate::chance::Dice;
use crate::chaos::wires::Order;
use crate::chaos::world::World;
use crate::cluster::APP_ROLE;
use crate::desk::free_address;
use crate::stage::DATABASE;
use crate::worker::Worker;

/// Time limit for the node to listen, and to end after other nodes consider it dead. The machine may be busy.
const PATIENCE: Duration = Duration::from_secs(45);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Duration of a cut from anything other than PostgreSQL.
const CUT_MS: (u64, u64) = (4_000, 6_000);

/// Cuts off a node (F31). A node must be started anew with wires around it. Each wire is cut once.
pub(super) fn cut_off(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let name = world.nodes[node].name().to_owned();
    let wiring = world.strikes(number, &name);
    world.nodes[node].kill()?;
    let mut wires = Wires::around(world, node)?;
    wires.start(world, node)?;
    world.made_ready(&wiring);
    from_postgres(world, (number, node), &mut wires)?;
    let street = world.nodes[node].address();
    for (wire, what) in [(wires.redis, "redis"), (Some(street), "gateway")] {
        let Some(wire) = wire else { continue };
        let mut strike = world.strikes(number, &format!("{name}/{what}"));
        strike.at_ns = wires.cut(wire)?;
        thread::sleep(dice.between_ms(CUT_MS.0, CUT_MS.1));
        wires.mend()?;
        world.healed(strike);
    }
    let wiring = world.strikes(number, &name);
    world.nodes[node].kill()?;
    drop(wires);
    world.nodes[node].start()?;
    world.made_ready(&wiring);
    Ok(())
}

/// Cuts the node off from PostgreSQL. It cannot renew its lease, and ends when it learns that its lease is over.
fn from_postgres(
    world: &mut World,
    (number, node): (&'static str, usize),
    wires: &mut Wires,
) -> Result<()> {
    let name = world.nodes[node].name().to_owned();
    let mut strike = world.strikes(number, &format!("{name}/postgres"));
    strike.at_ns = wires.cut(wires.postgres)?;
    taken_for_dead(world, node)?;
    wires.mend()?;
    world.nodes[node].ends_within(PATIENCE)?;
    wires.start(world, node)?;
    world.healed(strike);
    Ok(())
}

/// The wires around a node. Dropping them ends their process.
#[derive(Debug)]
struct Wires {
    worker: Worker,
    /// The address on which the node itself listens.
    inner: SocketAddr,
    postgres: SocketAddr,
    redis: Option<SocketAddr>,
}

impl Wires {
    /// Puts wires around a node that does not run.
    fn around(world: &World, node: usize) -> Result<Self> {
        let (inner, postgres) = (free_address()?, free_address()?);
        let redis = world.redis.as_ref().map(|_| free_address()).transpose()?;
        let mut ends =
            vec![(world.nodes[node].address(), inner), (postgres, here(world.cluster.port()))];
        ends.extend(redis.zip(world.redis.as_ref()).map(|(at, redis)| (at, here(redis.port()))));
        let mut arguments = vec!["chaos-wires".to_owned()];
        for (from, to) in ends {
            arguments.extend([format!("--from={from}"), format!("--to={to}")]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let worker = Worker::start(world.cluster.folder(), &arguments)?;
        Ok(Self { worker, inner, postgres, redis })
    }

    /// Starts the node between them.
    fn start(&mut self, world: &mut World, node: usize) -> Result<()> {
        self.mend()?;
        let Self { inner, postgres, redis, .. } = self;
        let mut told = vec![
            ("NIGHTDESK__LISTEN__ADDRESS", inner.to_string()),
            ("NIGHTDESK__DATABASE__URL", format!("postgres://{APP_ROLE}@{postgres}/{DATABASE}")),
        ];
        told.extend(redis.map(|redis| ("NIGHTDESK__REDIS__URL", format!("redis://{redis}/"))));
        world.nodes[node].start_with(&told)?;
        // At the node's public address the wire listens.
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(self.inner).is_err() {
            ensure!(Instant::now() < deadline, "a node does not listen behind its wires");
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Cuts the wire that begins at this address. Returns the time of the cut.
    fn cut(&mut self, wire: SocketAddr) -> Result<u64> {
        self.worker.ask::<()>(&Order::Cut(wire))?;
        Ok(monotonic_ns())
    }

    fn mend(&mut self) -> Result<()> {
        self.worker.ask(&Order::Mend)
    }
}

fn here(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}
