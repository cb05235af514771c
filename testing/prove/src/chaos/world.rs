//! Starts and controls all processes of a run.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::{Event, Recorder, monotonic_ns};
use nightdesk_servers::Redis;
use nightdesk_types::Transport;

use super::afterwards;
use super::gateways::{self, Order as GatewayOrder, Standing};
use super::jobs::{self, Order as JobsOrder};
use super::letters::{self, Order as LettersOrder};
use super::manner::{self, Manner, Manners};
use super::mutation::Mutation;
use super::node::Node;
use super::plan::{self, GATEWAY_PROCESSES, Jobs, Plan, Scale};
use super::platform::{Order as PlatformOrder, Sent};
use super::probe::{Probe, claims};
use super::rooms;
use super::street::{self, Order as StreetOrder, Rates, Street};
use crate::cluster::Cluster;
use crate::desk::{DeskLimits, Settings, free_address};
use crate::lost_commits;
use crate::setup::Cast;
use crate::stage::{DATABASE, seeded};
use crate::wakers;
use crate::worker::Worker;

/// Time limit for every node to have its lease after a fault.
const RECOVERED_WITHIN: Duration = Duration::from_mins(1);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Configuration of a world.
#[derive(Debug)]
pub struct Design<'a> {
    /// Seed from which the whole run follows.
    pub seed: u64,
    /// Path of the desk's binary.
    pub desk: &'a Path,
    /// Number of nodes.
    pub nodes: usize,
    /// True if a Redis is the bell between them. Without it a node finds another node's entries by its sweep.
    pub redis: bool,
    /// Size of the world.
    pub scale: Scale,
    /// Load on Discord and Telegram, if there is any.
    pub street: Option<Rates>,
    /// Manners of the gateways.
    pub manners: Manners,
    /// True if agents with jobs do not take every fire at once.
    pub odd_targets: bool,
    /// The planted bug, if there is one.
    pub mutation: Mutation,
    /// Folder of histories and logs.
    pub folder: PathBuf,
}

/// All processes of a run. The cluster ends last.
#[derive(Debug)]
pub struct World {
    platform: Worker,
    street: Option<Worker>,
    gateways: Vec<Worker>,
    jobs: Option<Worker>,
    letters: Option<Worker>,
    probe: Probe,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The bell between the nodes, if there is one.
    pub redis: Option<Redis>,
    /// PostgreSQL.
    pub cluster: Cluster,
    /// Folder of histories and logs.
    pub folder: PathBuf,
    /// The history of the driver, which injects the faults.
    driver: Recorder,
    /// Manner of each agent's gateway.
    pub manners: Vec<Manner>,
    /// Secrets that no log may contain.
    secrets: Vec<String>,
    /// Number of faults recorded so far.
    noted: Cell<u64>,
    strikes: Vec<Strike>,
}

/// An injected fault.
#[derive(Clone, Debug)]
pub struct Strike {
    /// Its number in the list of promises.
    pub number: String,
    /// Time of the fault.
    pub at_ns: u64,
    /// Its targets.
    pub hit: Hit,
    id: String,
}

/// Targets of a fault.
#[derive(Clone, Debug)]
pub enum Hit {
    /// All events in flight.
    Events,
    /// Events that waited for this agent.
    EventsOf(String),
    /// Number of sends that a node had in progress.
    Sends(usize),
    /// Jobs that were armed and not fired yet.
    Fires,
}

impl World {
    /// Stores all tenants and agents, and starts all processes. No gateway dials and no platform posts yet.
    pub fn set(design: &Design<'_>) -> Result<Self> {
        let cluster = Cluster::start()?;
        let deliver = free_address()?;
        let size = design.scale.size(deliver);
        let (mut settings, cast) = seeded(design.desk, &cluster, DATABASE, &size)?;
        settings.set_limits(DeskLimits::Production)?;
        design.mutation.alter(&cluster)?;
        claims::watch(&cluster)?;
        let (street, street_worker, at) = streets(design, &settings, &cluster, &cast)?;
        let rooms = rooms::enter(design.seed, &cluster, &cast, design.scale.rooms)?;
        let manners = plan::manners(design.seed, design.manners, &cast);
        let own = plan::own_conversations(&cast, design.scale.authors);
        let floods = plan::floods(&cast, &manners, design.scale.floods);
        plan::bind(&cluster, &cast, &[&*own, &*floods].concat())?;
        let redis = design.redis.then(Redis::start).transpose()?;
        let targets = (0..GATEWAY_PROCESSES).map(|_| free_address()).collect::<Result<Vec<_>>>()?;
        let lured = Plan::lured(cast.members.len());
        wakers::enter(&cluster, &cast, |member| {
            // One agent names the address that the desk must never call.
            if member == lured {
                wakers::honeypot(&targets)
            } else {
                targets[Plan::process_of(member)]
            }
        })?;
        let posted = manner::posted(&manners);
        wakers::enter_webhooks(
            &cluster,
            &cast,
            posted.map(|member| (member, targets[Plan::process_of(member)])),
        )?;
        let jobs = Jobs {
            agents: design.scale.jobs.min(cast.members.len()),
            target: free_address()?,
            is_odd: design.odd_targets,
        };
        let letters = letters::who::enter(&cluster, &cast, design.scale.letters)?;
        let callable = [&*targets, &[jobs.target]].concat();
        let more = [wakers::settings(&callable), bell(redis.as_ref()), at].concat();
        let nodes = nodes(design, &settings, &more)?;
        let plan = Plan {
            seed: design.seed,
            folder: design.folder.clone(),
            nodes: nodes.iter().map(Node::address).collect(),
            deliver,
            honeypot: wakers::honeypot(&targets),
            targets,
            manners,
            conversations: [
                own,
                plan::open_conversations(design.seed, &cast, size.guests),
                rooms.conversations,
            ]
            .concat(),
            floods,
            movers: rooms.movers,
            street,
            jobs,
            letters,
            cast,
            rate_per_s: design.scale.rate_per_s,
            looks_percent: design.scale.looks_percent,
            psql: cluster.program("psql"),
            database_url: cluster.admin_url(DATABASE),
            vault_key_file: settings.key_file().to_owned(),
        };
        Self::start(&plan, nodes, (redis, cluster), street_worker)
    }

    fn start(
        plan: &Plan,
        nodes: Vec<Node>,
        (redis, cluster): (Option<Redis>, Cluster),
        mut street: Option<Worker>,
    ) -> Result<Self> {
        let file = plan.folder.join("plan.json");
        plan.save(&file)?;
        let enter = StreetOrder::Enter(file.clone());
        let file = file.display().to_string();
        let driver = plan.record("driver")?;
        let started = |proc: &str| driver.note(Event::Started { proc: proc.to_owned() });
        for member in 0..Plan::lured(plan.cast.members.len()) {
            let agent = Plan::agent(member);
            // A posted agent is woken by the post.
            let is_posted = plan.manners[member].transport() == Transport::Webhook;
            driver.note(if is_posted {
                Event::Posted { agent }
            } else {
                Event::Wakeable { agent }
            });
        }
        started("probe");
        let probe = Probe::start(plan)?;
        started("platform");
        if let Some(street) = &mut street {
            started(street::NAME);
            let _: street::Standing = street.ask(&enter)?;
        }
        let arguments = ["chaos-platform", "--plan", &file];
        let platform = Worker::start(cluster.folder(), &arguments)?;
        let gateways: Result<Vec<Worker>> = (0..GATEWAY_PROCESSES)
            .map(|process| {
                started(&gateways::name(process));
                let process = process.to_string();
                let arguments = ["chaos-gateways", "--plan", &file, "--process", &process];
                Worker::start(cluster.folder(), &arguments)
            })
            .collect();
        let jobs = (plan.jobs.agents > 0).then(|| {
            started(jobs::NAME);
            Worker::start(cluster.folder(), &["chaos-jobs", "--plan", &file])
        });
        let letters = (!plan.letters.is_empty()).then(|| {
            started(letters::NAME);
            Worker::start(cluster.folder(), &["chaos-letters", "--plan", &file])
        });
        Ok(Self {
            platform,
            street,
            gateways: gateways?,
            jobs: jobs.transpose()?,
            letters: letters.transpose()?,
            probe,
            nodes,
            redis,
            cluster,
            folder: plan.folder.clone(),
            driver,
            manners: plan.manners.clone(),
            secrets: afterwards::secrets(&plan.cast),
            noted: Cell::new(1),
            strikes: Vec::new(),
        })
    }

    /// Records an event in the driver's history.
    pub fn note(&self, event: Event) {
        self.driver.note(event);
    }

    /// Sends a command to the platform.
    pub fn platform(&mut self, order: &PlatformOrder) -> Result<Sent> {
        self.platform.ask(order)
    }

    /// Sends a command to the street, if there is one.
    pub fn street(&mut self, order: &StreetOrder) -> Result<street::Standing> {
        self.street.as_mut().map_or_else(|| Ok(street::Standing::default()), |one| one.ask(order))
    }

    /// Returns true if agents have jobs.
    pub const fn has_jobs(&self) -> bool {
        self.jobs.is_some()
    }

    /// Returns true if people write on Discord and Telegram.
    pub const fn has_street(&self) -> bool {
        self.street.is_some()
    }

    /// Waits until every node has its lease. A node that lost it ends; it is started again, as a service manager does.
    pub fn recover(&mut self) -> Result<()> {
        let names: Vec<String> =
            self.nodes.iter().map(|node| format!("'{}'", node.name())).collect();
        let over =
            format!("select count(*) from nodes where is_over and node in ({})", names.join(", "));
        let deadline = Instant::now() + RECOVERED_WITHIN;
        loop {
            for node in &mut self.nodes {
                if node.has_ended()? {
                    node.start()?;
                }
            }
            // PostgreSQL may still recover from a fault of its own.
            if self.cluster.ask(DATABASE, &over).is_ok_and(|count| count.trim() == "0") {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "a node without a lease does not end");
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Sends a command to the agents that have jobs, if there are any.
    pub fn jobs(&mut self, order: &JobsOrder) -> Result<()> {
        self.jobs.as_mut().map_or(Ok(()), |one| one.ask(order))
    }

    /// Sends a command to the agents that write letters, if there are any.
    pub fn letters(&mut self, order: &LettersOrder) -> Result<()> {
        self.letters.as_mut().map_or(Ok(()), |one| one.ask(order))
    }

    /// Sends a command to all gateways, and sums their states.
    pub fn gateways(&mut self, order: &GatewayOrder) -> Result<Standing> {
        let mut all = Standing::default();
        for worker in &mut self.gateways {
            let standing: Standing = worker.ask(order)?;
            all.acked += standing.acked;
            all.asking += standing.asking;
            all.frozen += standing.frozen;
            all.holding.extend(standing.holding);
            all.posted_again.extend(standing.posted_again);
        }
        Ok(all)
    }

    /// Returns the process id of a gateway process.
    pub fn gateways_pid(&self, process: usize) -> u32 {
        self.gateways[process].pid()
    }

    /// Records that a fault is about to strike.
    pub fn strikes(&self, number: &str, target: &str) -> Strike {
        let id = format!("{number}.{}", self.noted.replace(self.noted.get() + 1));
        let (fault, target) = (number.to_owned(), target.to_owned());
        self.note(Event::FaultOn { id: id.clone(), fault, target });
        Strike { number: number.to_owned(), at_ns: monotonic_ns(), hit: Hit::Events, id }
    }

    /// Records that a fault is over.
    pub fn healed(&mut self, strike: Strike) {
        self.note(Event::FaultOff { id: strike.id.clone() });
        self.strikes.push(strike);
    }

    /// Records the end of a fault that only prepared another one.
    pub fn made_ready(&self, strike: &Strike) {
        self.note(Event::FaultOff { id: strike.id.clone() });
    }

    /// Returns the faults so far.
    pub fn struck(&self) -> &[Strike] {
        &self.strikes
    }

    /// Returns the number of entries that are neither acked nor parked.
    pub fn pending(&self) -> Result<u64> {
        let pending = self.cluster.ask(
            DATABASE,
            "select count(*) from inbox_entries e join inbox_cursors c using (tenant_id, agent_id)
             where e.seq > c.acked_seq and not e.seq <@ c.ahead",
        )?;
        pending.trim().parse().context("could not read how many entries wait")
    }

    /// Returns true if a node still stores events again that the database lost.
    pub fn is_storing_again(&self) -> Result<bool> {
        for node in &self.nodes {
            if lost_commits::is_storing_again(&node.log()?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the number of armed jobs and unfinished fires.
    pub fn untold(&self) -> Result<u64> {
        let untold = self.cluster.ask(
            DATABASE,
            "select (select count(*) from schedules where next_at is not null)
                  + (select count(*) from fires where next_at is not null)",
        )?;
        untold.trim().parse().context("could not read how many fires are not over")
    }

    /// Returns true if entries of some agents are posted.
    pub fn has_posted(&self) -> bool {
        manner::posted(&self.manners).next().is_some()
    }

    /// Returns the number of agents whose last line used each transport.
    pub fn transports(&self) -> Result<BTreeMap<&'static str, u64>> {
        let counts = "select transport, count(*) from lines group by transport";
        let rows = self.cluster.ask(DATABASE, counts)?;
        let count = |row: &str| {
            let (slug, count) = row.split_once('|')?;
            Some((Transport::from_slug(slug)?.slug(), count.trim().parse().ok()?))
        };
        Ok(rows.lines().filter_map(count).collect())
    }

    /// Returns true if every agent that opens its lines itself has had one.
    pub fn all_had_lines(&self) -> Result<bool> {
        let without = "select exists (
            select from agents a where not exists (
                select from lines l where l.tenant_id = a.tenant_id and l.agent_id = a.agent_id
            ) and not exists (
                select from agent_webhooks h
                where h.tenant_id = a.tenant_id and h.agent_id = a.agent_id
            )
        )";
        Ok(self.cluster.ask(DATABASE, without)?.trim() == "f")
    }

    /// Ends every history, and then all processes.
    pub fn end(mut self) -> Result<Vec<Strike>> {
        self.note(Event::Quiesce);
        for seen in afterwards::look(&self.folder, &self.secrets, &self.nodes)? {
            self.note(seen);
        }
        self.letters(&LettersOrder::End)?;
        self.probe.end()?;
        self.gateways(&GatewayOrder::End)?;
        self.platform(&PlatformOrder::End)?;
        self.street(&StreetOrder::End)?;
        self.jobs(&JobsOrder::End)?;
        self.driver.end().context("could not end the driver's history")?;
        for node in &mut self.nodes {
            node.kill()?;
        }
        Ok(self.strikes)
    }
}

/// Starts all nodes, and logs an administrator in.
fn nodes(design: &Design<'_>, settings: &Settings, more: &str) -> Result<Vec<Node>> {
    let told = (&*design.folder, more);
    let write = |number| Node::write(number, settings, told, &design.mutation.environment());
    let mut nodes: Vec<Node> = (1..=design.nodes).map(write).collect::<Result<_>>()?;
    nodes.iter_mut().try_for_each(Node::start)?;
    nodes.first().context("the desk has no node")?.log_in()?;
    Ok(nodes)
}

/// Starts the street, if there is one, and registers its bots. Also returns its configuration for a node.
fn streets(
    design: &Design<'_>,
    settings: &Settings,
    cluster: &Cluster,
    cast: &Cast,
) -> Result<(Option<Street>, Option<Worker>, String)> {
    let Some(rates) = design.street else { return Ok((None, None, String::new())) };
    let mut worker = Worker::start(cluster.folder(), &["chaos-street"])?;
    let street::Standing { at, .. } = worker.ask(&StreetOrder::Count)?;
    let street = street::enter(cluster, settings.vault()?, cast, (&at, rates))?;
    Ok((Some(street), Some(worker), at.settings()))
}

/// Returns a node's configuration of the bell.
fn bell(redis: Option<&Redis>) -> String {
    redis.map_or_else(String::new, |redis| format!("[redis]\nurl = \"{}\"\n", redis.url()))
}
