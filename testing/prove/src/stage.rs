//! Starts all processes that a proof needs.

use std::iter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use nightdesk_servers::Redis;
use nightdesk_types::limits::{DAYS_OPENED_AHEAD, DEDUPE_DAYS};

use crate::cluster::Cluster;
use crate::desk::{Desk, DeskLimits, Settings};
use crate::history::Seen;
use crate::setup::{Cast, Size};
use crate::worker::Worker;
use crate::{gateway, history, platform, ui};

/// The desk's database.
pub const DATABASE: &str = "desk";

/// File name of the cast.
const CAST: &str = "cast.json";

/// Time limit for entries after the last post.
const ARRIVED_WITHIN: Duration = Duration::from_secs(30);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Number of entries that are neither acked nor parked.
const PENDING: &str = "
    select count(*) from inbox_entries e join inbox_cursors c using (tenant_id, agent_id)
    where e.seq > c.acked_seq and not e.seq <@ c.ahead";

/// The running processes. The cluster ends last.
#[derive(Debug)]
pub struct Stage {
    /// The platform's process.
    pub platform: Worker,
    /// The gateways' process.
    pub gateways: Worker,
    /// The desk, or its first node.
    pub desk: Desk,
    /// Its other nodes.
    pub others: Vec<Desk>,
    /// The bell between the nodes.
    pub redis: Option<Redis>,
    /// Configuration of its nodes.
    settings: Settings,
    /// The cast.
    pub cast: Cast,
    /// PostgreSQL.
    pub cluster: Cluster,
}

impl Stage {
    /// Creates the cast, and starts the desk, the platform and the gateways. No gateway dials yet.
    pub fn set(binary: &Path, size: &Size, connections: u64) -> Result<Self> {
        Self::set_limited(binary, size, connections, None)
    }

    /// Sets up a stage with a rate limit for an author's messages to an agent.
    pub fn set_limited(
        binary: &Path,
        size: &Size,
        connections: u64,
        author_per_minute: Option<u32>,
    ) -> Result<Self> {
        let cluster = Cluster::start()?;
        let (mut settings, cast) = seeded(binary, &cluster, DATABASE, size)?;
        settings.set_limits(DeskLimits::Raised { author_per_minute })?;
        let desk = settings.start()?;
        let nodes = [desk.address()];
        Self::around(cluster, (settings, cast), desk, (&nodes, &nodes, connections))
    }

    /// Sets up a stage with this many nodes and a Redis between them. The platform posts to all nodes, and the lines
    /// are on all of them.
    pub fn set_ringing(binary: &Path, nodes: usize, size: &Size, connections: u64) -> Result<Self> {
        let cluster = Cluster::start()?;
        let (settings, cast) = seeded(binary, &cluster, DATABASE, size)?;
        let redis = Redis::start()?;
        let bell = bell(&redis);
        let node =
            |number| settings.node(&format!("node-{number}"), cluster.folder(), &bell)?.start();
        let desk = node(1)?;
        let others: Vec<Desk> = (2..=nodes).map(node).collect::<Result<_>>()?;
        let nodes: Vec<SocketAddr> = iter::once(&desk).chain(&others).map(Desk::address).collect();
        let stage = Self::around(cluster, (settings, cast), desk, (&nodes, &nodes, connections))?;
        Ok(Self { others, redis: Some(redis), ..stage })
    }

    /// Returns the configuration of an additional node. It does not run yet.
    pub fn another(&self, name: &str) -> Result<Settings> {
        let bell = self.redis.as_ref().map(bell).unwrap_or_default();
        self.settings.node(name, self.cluster.folder(), &bell)
    }

    /// Sets up a stage with two desks that share only the database: the platform posts to one, and the lines are on the
    /// other.
    pub fn set_apart(binary: &Path, size: &Size, connections: u64) -> Result<(Self, Desk)> {
        let cluster = Cluster::start()?;
        let (settings, cast) = seeded(binary, &cluster, DATABASE, size)?;
        let other = settings.node("desk-2", cluster.folder(), "")?;
        let (desk, other) = (settings.start()?, other.start()?);
        let (lines, posts) = ([desk.address()], [other.address()]);
        Ok((Self::around(cluster, (settings, cast), desk, (&lines, &posts, connections))?, other))
    }

    fn around(
        cluster: Cluster,
        (settings, cast): (Settings, Cast),
        desk: Desk,
        (lines, posts, connections): (&[SocketAddr], &[SocketAddr], u64),
    ) -> Result<Self> {
        cast.save(&cluster.folder().join(CAST))?;
        Ok(Self {
            gateways: gateways(cluster.folder(), lines)?,
            platform: platform(cluster.folder(), posts, (connections, 0))?,
            desk,
            others: Vec::new(),
            redis: None,
            settings,
            cast,
            cluster,
        })
    }

    /// Dials in for every agent.
    pub fn dial(&mut self) -> Result<()> {
        ui::say(&format!("dialling {} lines", self.cast.members.len()));
        let standing: gateway::Standing = self.gateways.ask(&gateway::Order::Dial)?;
        self.all_open(&standing)
    }

    /// Kills the desk and starts it again. Returns when it listens.
    pub fn kill_and_start_again(&mut self) -> Result<()> {
        self.desk.kill()?;
        self.desk = self.settings.start()?;
        Ok(())
    }

    /// Makes the platform post. Returns the total number of events that got a 200.
    pub fn post(&mut self, order: &platform::Order) -> Result<u64> {
        let told: Result<platform::Told> = self.platform.ask(order);
        told.map(|told| told.told).map_err(|error| error.context(self.desks_log()))
    }

    /// Returns the state of the gateways.
    pub fn standing(&mut self) -> Result<gateway::Standing> {
        self.gateways.ask(&gateway::Order::Count)
    }

    /// Waits until this many entries were acked in total, and checks that every line is open.
    pub fn arrived(&mut self, told: u64) -> Result<()> {
        self.arrived_within(told, ARRIVED_WITHIN)
    }

    /// Waits like `arrived`, with this time limit.
    pub fn arrived_within(&mut self, told: u64, span: Duration) -> Result<()> {
        let deadline = Instant::now() + span;
        loop {
            let standing = self.standing()?;
            self.all_open(&standing)?;
            if standing.acked >= told {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("of {told} events {} arrived; {}", standing.acked, self.desks_log());
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits until every ack is stored: a line that is replaced before gets its entries again.
    pub fn settled(&self) -> Result<()> {
        let deadline = Instant::now() + ARRIVED_WITHIN;
        while self.cluster.ask(DATABASE, PENDING)?.trim() != "0" {
            ensure!(Instant::now() < deadline, "acks are not written; {}", self.desks_log());
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Checks that every acknowledged event was acked once, by its own agent's gateway.
    pub fn check_history(&mut self) -> Result<()> {
        let (told, acked) = self.history()?;
        history::check(&told, &acked)
    }

    /// Returns the acknowledged events, and the acked entries.
    pub fn history(&mut self) -> Result<(Vec<Seen>, Vec<Seen>)> {
        let (told, acked) = self.history_files()?;
        Ok((history::load(&told)?, history::load(&acked)?))
    }

    /// Returns the files of the acknowledged events and of the acked entries, with their times.
    pub fn history_files(&mut self) -> Result<(PathBuf, PathBuf)> {
        let folder = self.cluster.folder();
        let (told, acked) = (folder.join("told"), folder.join("acked"));
        let _: platform::Told = self.platform.ask(&platform::Order::Save(told.clone()))?;
        let _: gateway::Standing = self.gateways.ask(&gateway::Order::Save(acked.clone()))?;
        Ok((told, acked))
    }

    /// Starts an additional platform that posts to these nodes, with event numbers from `first_event` on.
    pub fn another_platform(
        &self,
        nodes: &[SocketAddr],
        connections: u64,
        first_event: u64,
    ) -> Result<Worker> {
        platform(self.cluster.folder(), nodes, (connections, first_event))
    }

    /// Starts the same gateways again, with lines to this node.
    pub fn another_gateways(&self, node: SocketAddr) -> Result<Worker> {
        gateways(self.cluster.folder(), &[node])
    }

    fn all_open(&self, standing: &gateway::Standing) -> Result<()> {
        let lines = self.cast.members.len();
        let problem = standing.problem.as_deref().unwrap_or("nobody knows why");
        ensure!(
            standing.open == lines as u64,
            "of {lines} lines {} are open: {problem}; {}",
            standing.open,
            self.desks_log()
        );
        Ok(())
    }

    /// Returns all nodes of the desk.
    pub fn nodes(&self) -> impl Iterator<Item = &Desk> {
        iter::once(&self.desk).chain(&self.others)
    }

    fn desks_log(&self) -> String {
        let logs: Vec<String> = self.nodes().map(Desk::log_tail).collect();
        format!("the desk's log ends:\n{}", logs.join("\nand of the next node:\n"))
    }
}

/// Starts the gateways of the cast in this folder.
fn gateways(folder: &Path, lines: &[SocketAddr]) -> Result<Worker> {
    Worker::start(folder, &told(folder, "gateways", lines))
}

/// Starts a platform for the cast in this folder.
fn platform(
    folder: &Path,
    posts: &[SocketAddr],
    (connections, first_event): (u64, u64),
) -> Result<Worker> {
    let mut arguments = told(folder, "platform", posts);
    arguments.extend(["--connections".to_owned(), connections.to_string()]);
    arguments.extend(["--first-event".to_owned(), first_event.to_string()]);
    Worker::start(folder, &arguments)
}

/// Returns the arguments of a worker: the cast and its nodes.
fn told(folder: &Path, work: &str, nodes: &[SocketAddr]) -> Vec<String> {
    let cast = folder.join(CAST).display().to_string();
    let mut arguments = vec![work.to_owned(), "--cast".to_owned(), cast];
    arguments.extend(named(nodes));
    arguments
}

/// Returns a node's configuration of the bell.
fn bell(redis: &Redis) -> String {
    format!("[redis]\nurl = \"{}\"\n", redis.url())
}

/// Returns the nodes as arguments of a worker.
fn named(nodes: &[SocketAddr]) -> impl Iterator<Item = String> {
    nodes.iter().flat_map(|node| ["--desk".to_owned(), node.to_string()])
}

/// Creates a database, migrates it and creates the cast.
pub fn seeded(
    binary: &Path,
    cluster: &Cluster,
    database: &str,
    size: &Size,
) -> Result<(Settings, Cast)> {
    let Size { tenants, agents, .. } = size;
    ui::say(&format!("entering {agents} agents of {tenants} tenants into {database}"));
    cluster.create(database)?;
    let settings = Settings::write(binary, cluster, database)?;
    settings.migrate()?;
    let cast = Cast::enter(cluster, database, settings.vault()?, size)?;
    // Opens as many days as after a week, because duplicates are searched in all of them.
    cluster.ask(database, &format!("select open_days({DEDUPE_DAYS}, {DAYS_OPENED_AHEAD})"))?;
    // Neither side of a comparison may plan with statistics that the other does not have.
    cluster.ask(database, "vacuum analyze")?;
    Ok((settings, cast))
}
