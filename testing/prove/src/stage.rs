//! Stage: everything a proof needs, up and running.

use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use nightdesk_types::limits::{DAYS_OPENED_AHEAD, DEDUPE_DAYS};

use crate::cluster::Cluster;
use crate::desk::{Desk, Settings};
use crate::history::Seen;
use crate::setup::{Cast, Size};
use crate::worker::Worker;
use crate::{gateway, history, platform, ui};

/// The desk's database.
pub const DATABASE: &str = "desk";

/// How long entries may be on their way once nothing is posted any more.
const ARRIVED_WITHIN: Duration = Duration::from_secs(30);

/// How often we look whether they have arrived.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What runs. The cluster ends last.
#[derive(Debug)]
pub struct Stage {
    /// The platform's process.
    pub platform: Worker,
    /// The gateways' process.
    pub gateways: Worker,
    /// The desk.
    pub desk: Desk,
    settings: Settings,
    /// Everybody there is.
    pub cast: Cast,
    /// PostgreSQL.
    pub cluster: Cluster,
}

impl Stage {
    /// Enters everybody, and starts the desk and those who are outside it. Nobody dials yet.
    pub fn set(binary: &Path, size: &Size, connections: u64) -> Result<Self> {
        let cluster = Cluster::start()?;
        let (settings, cast) = seeded(binary, &cluster, DATABASE, size)?;
        let desk = settings.start()?;
        let posted_to = desk.address();
        Self::around(cluster, cast, (settings, desk), (posted_to, connections))
    }

    /// The same with two desks that have nothing but the database between them: the platform
    /// posts to one, and the lines are on the other.
    pub fn set_apart(binary: &Path, size: &Size, connections: u64) -> Result<(Self, Desk)> {
        let cluster = Cluster::start()?;
        let (settings, cast) = seeded(binary, &cluster, DATABASE, size)?;
        let other = settings.node("desk-2", cluster.folder(), "")?;
        let (desk, other) = (settings.start()?, other.start()?);
        let posted_to = other.address();
        Ok((Self::around(cluster, cast, (settings, desk), (posted_to, connections))?, other))
    }

    fn around(
        cluster: Cluster,
        cast: Cast,
        (settings, desk): (Settings, Desk),
        (posted_to, connections): (SocketAddr, u64),
    ) -> Result<Self> {
        let file = cluster.folder().join("cast.json");
        cast.save(&file)?;
        let (lines, posts) = (desk.address().to_string(), posted_to.to_string());
        let (file, connections) = (file.display().to_string(), connections.to_string());
        let gateways = ["gateways", "--desk", &lines, "--cast", &file];
        let gateways = Worker::start(cluster.folder(), &gateways)?;
        let platform =
            ["platform", "--desk", &posts, "--cast", &file, "--connections", &connections];
        let platform = Worker::start(cluster.folder(), &platform)?;
        Ok(Self { platform, gateways, desk, settings, cast, cluster })
    }

    /// Dials in for every agent.
    pub fn dial(&mut self) -> Result<()> {
        ui::say(&format!("dialling {} lines", self.cast.members.len()));
        let standing: gateway::Standing = self.gateways.ask(&gateway::Order::Dial)?;
        self.all_open(&standing)
    }

    /// Kills the desk and starts it again; returns when it listens.
    pub fn kill_and_start_again(&mut self) -> Result<()> {
        self.desk.kill()?;
        self.desk = self.settings.start()?;
        Ok(())
    }

    /// Has the platform post; answers how many events it was told "200" for in all.
    pub fn post(&mut self, order: &platform::Order) -> Result<u64> {
        let told: Result<platform::Told> = self.platform.ask(order);
        told.map(|told| told.told).map_err(|error| error.context(self.desks_log()))
    }

    /// How things stand with the gateways.
    pub fn standing(&mut self) -> Result<gateway::Standing> {
        self.gateways.ask(&gateway::Order::Count)
    }

    /// Waits until so many entries were acked in all, and checks that every line is open.
    pub fn arrived(&mut self, told: u64) -> Result<()> {
        self.arrived_within(told, ARRIVED_WITHIN)
    }

    /// The same, for as long as that.
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

    /// Checks that all that was told "ok" was acked by whom it was for, once.
    pub fn check_history(&mut self) -> Result<()> {
        let (told, acked) = self.history()?;
        history::check(&told, &acked)
    }

    /// What was told "ok", and what was acked.
    pub fn history(&mut self) -> Result<(Vec<Seen>, Vec<Seen>)> {
        let folder = self.cluster.folder();
        let (told, acked) = (folder.join("told"), folder.join("acked"));
        let _: platform::Told = self.platform.ask(&platform::Order::Save(told.clone()))?;
        let _: gateway::Standing = self.gateways.ask(&gateway::Order::Save(acked.clone()))?;
        Ok((history::load(&told)?, history::load(&acked)?))
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

    fn desks_log(&self) -> String {
        format!("the desk's log ends:\n{}", self.desk.log_tail())
    }
}

/// Makes a database, brings it up to date and enters everybody.
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
    // As after a week: that many days are looked through for duplicates.
    cluster.ask(database, &format!("select open_days({DEDUPE_DAYS}, {DAYS_OPENED_AHEAD})"))?;
    // So that neither side of a comparison plans with figures the other does not have.
    cluster.ask(database, "vacuum analyze")?;
    Ok((settings, cast))
}
