//! Steps a world to its end, and observes it from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{anyhow, ensure};
use futures_util::FutureExt;
use nightdesk_inbox::{EntryStatus, InboxAdmin, ParkReason, Store};
use nightdesk_judge::{EntryState, Event, Verdict, judge};
use nightdesk_register::Gateways;
use nightdesk_types::{EntryId, Incarnation, Seq, Transport};
use turmoil::Sim;

use crate::cast::Agent;
use crate::chance::Chance;
use crate::faults::{self, Broken};
use crate::notes::{Histories, Notes};
use crate::plan::Plan;
use crate::world::World;
use crate::{gateway, node, platform, time};

/// Minimum and maximum latency of a message.
pub const MESSAGE_TAKES: (Duration, Duration) =
    (Duration::from_millis(1), Duration::from_millis(30));

/// The length of a step.
const STEP: Duration = Duration::from_millis(10);

/// Interval of the reads of the tables.
const PROBE_EVERY: Duration = Duration::from_secs(1);

/// Time limit to settle after the last fault and the last message. Then the world is judged, settled or not.
///
/// A restless gateway stays on its line from then on, but sleeps for up to 12 s before it, gets no entries in the first
/// 3 s of a connection, and takes up to 6 s for an ack.
const SETTLE_WAIT: Duration = Duration::from_mins(3);

/// Time that a settled world continues, to detect unexpected events.
const SETTLED_FOR: Duration = Duration::from_secs(3);

/// Maximum segments in transit on one connection, and maximum dials that wait at a listener.
const SEGMENTS_MAX: usize = 512;

/// Plays a seed and judges the records. The histories remain in the folder.
pub fn play(seed: u64, folder: &Path) -> anyhow::Result<Verdict> {
    time::stepped_to(Duration::ZERO);
    let mut chance = Chance::of(seed);
    let plan = Plan::of(seed, &mut chance);
    let mut histories = Histories::new(folder);
    let notes = histories.begin("driver")?;
    notes.note(Event::Begin { seed, faults: plan.faulty });
    let world = Arc::new(World::of(plan, chance.fork(), &mut histories)?);
    let mut sim = network(&mut chance);
    people(&mut sim, &world, &mut histories, &mut chance)?;
    foretell(&world.plan, &notes);
    declare_posted(&world, &notes);
    Driver::new(Arc::clone(&world), notes).run(&mut sim)?;
    drop(sim);
    histories.end()?;
    Ok(judge(folder)?)
}

fn network(chance: &mut Chance) -> Sim<'static> {
    turmoil::Builder::new()
        .rng_seed(chance.between(0, u64::MAX - 1))
        .epoch(SystemTime::UNIX_EPOCH)
        .tick_duration(STEP)
        .simulation_duration(Duration::from_hours(1))
        .min_message_latency(MESSAGE_TAKES.0)
        .max_message_latency(MESSAGE_TAKES.1)
        .tcp_capacity(SEGMENTS_MAX)
        .enable_random_order()
        .build()
}

/// Declares in advance the entries that may be parked: an agent that reconnects repeatedly during a handover has tried
/// the entry in vain.
fn foretell(plan: &Plan, notes: &Notes) {
    for say in &plan.says {
        if say.to.is_some_and(|to| plan.habits[to].may_park()) {
            may_park(say.id.clone(), notes);
        }
    }
    for (nonce, _) in plan.fed().filter(|(_, fed)| plan.habits[fed.to].may_park()) {
        may_park(nonce, notes);
    }
}

/// Declares the agents to which the desk posts.
fn declare_posted(world: &World, notes: &Notes) {
    for (agent, transport) in world.cast.agents.iter().zip(&world.plan.transports) {
        if *transport == Transport::Webhook {
            notes.note(Event::Posted { agent: agent.name.clone() });
        }
    }
}

fn may_park(nonce: String, notes: &Notes) {
    notes.note(Event::MayPark { nonce, reason: ParkReason::Tries.slug().to_owned() });
}

/// Adds the platform and the gateways to the network.
fn people(
    sim: &mut Sim<'static>,
    world: &Arc<World>,
    histories: &mut Histories,
    chance: &mut Chance,
) -> anyhow::Result<()> {
    for name in world.plan.nodes.clone() {
        let world = Arc::clone(world);
        sim.host(name.clone(), move || node::live(Arc::clone(&world), name.clone()));
    }
    for (place, agent) in world.cast.agents.iter().enumerate() {
        let (notes, chance) = (histories.begin(&gateway::host(agent))?, chance.fork());
        let world = Arc::clone(world);
        sim.host(gateway::host(agent), move || {
            gateway::live(Arc::clone(&world), place, notes.clone(), chance.clone())
        });
    }
    let (notes, chance) = (histories.begin(platform::HOST)?, chance.fork());
    let world = Arc::clone(world);
    sim.host(platform::HOST, move || {
        platform::live(Arc::clone(&world), notes.clone(), chance.clone())
    });
    Ok(())
}

struct Driver {
    world: Arc<World>,
    notes: Notes,
    /// Indexes of the faults that have begun, and of those that are over.
    begun: BTreeSet<usize>,
    over: BTreeSet<usize>,
    revoked: bool,
    probed_at: Duration,
    settled_at: Option<Duration>,
    seen: BTreeMap<(String, i64), Event>,
}

impl Driver {
    fn new(world: Arc<World>, notes: Notes) -> Self {
        Self {
            world,
            notes,
            begun: BTreeSet::new(),
            over: BTreeSet::new(),
            revoked: false,
            probed_at: Duration::ZERO,
            settled_at: None,
            seen: BTreeMap::new(),
        }
    }

    fn run(mut self, sim: &mut Sim<'_>) -> anyhow::Result<()> {
        while !self.is_over(sim.elapsed()) {
            time::stepped_to(sim.elapsed());
            self.act(sim)?;
            sim.step().map_err(|error| anyhow!("the simulation broke: {error}"))?;
        }
        time::stepped_to(sim.elapsed());
        self.notes.note(Event::Quiesce);
        self.seen.clear();
        self.probe();
        Ok(())
    }

    /// Returns true if there are no more events to observe.
    fn is_over(&mut self, now: Duration) -> bool {
        let last = self.world.plan.last_event_at();
        let settled = now > last && self.world.is_settled();
        self.settled_at = if settled { self.settled_at.or(Some(now)) } else { None };
        let wait = SETTLE_WAIT + self.world.plan.longest_turn();
        self.settled_at.is_some_and(|at| now > at + SETTLED_FOR) || now > last + wait
    }

    /// Executes the actions that are due between two steps.
    fn act(&mut self, sim: &mut Sim<'_>) -> anyhow::Result<()> {
        let now = sim.elapsed();
        let world = Arc::clone(&self.world);
        for (place, fault) in world.plan.faults.iter().enumerate() {
            if fault.on <= now && self.begun.insert(place) {
                let (name, target) = fault.what.told(&world);
                let (id, name) = (fault.id.clone(), name.to_owned());
                self.notes.note(Event::FaultOn { id, fault: name, target });
                fault.what.begin(&world, sim);
            }
            if fault.off <= now && self.over.insert(place) {
                fault.what.end(&world, sim);
                self.notes.note(Event::FaultOff { id: fault.id.clone() });
            }
        }
        self.restart(sim);
        self.revoke(now)?;
        if now >= self.probed_at + PROBE_EVERY {
            self.probed_at = now;
            self.probe();
        }
        Ok(())
    }

    /// Restarts nodes that have ended by themselves.
    fn restart(&self, sim: &mut Sim<'_>) {
        for name in &self.world.plan.nodes {
            if !self.is_crashed(name) && !sim.is_host_running(name.as_str()) {
                faults::evenly(&self.world, sim, name, |sim| sim.bounce(name.as_str()));
            }
        }
    }

    fn is_crashed(&self, name: &str) -> bool {
        let now: Vec<&usize> = self.begun.difference(&self.over).collect();
        now.into_iter().any(|&place| {
            matches!(&self.world.plan.faults[place].what, Broken::Crash(node) if node == name)
        })
    }

    fn revoke(&mut self, now: Duration) -> anyhow::Result<()> {
        let Some((at, agent)) = self.world.plan.revoked.filter(|_| !self.revoked) else {
            return Ok(());
        };
        // While the store is down for all nodes, no gateway can be revoked.
        if now >= at && !self.world.weather.is_down() {
            self.revoked = true;
            let agent = &self.world.cast.agents[agent];
            let gateway = agent.gateways[0].name.clone();
            let revoked = self.world.memory.revoke(agent.scope, &gateway).now_or_never();
            ensure!(matches!(revoked, Some(Ok(true))), "{gateway} could not be revoked");
            self.notes.note(Event::Revoked { gateway });
        }
        Ok(())
    }

    /// Records the states of entries that changed.
    fn probe(&mut self) {
        let world = Arc::clone(&self.world);
        for agent in &world.cast.agents {
            for (seq, seen) in entries(&world, agent) {
                let before = self.seen.insert((agent.name.clone(), seq), seen.clone());
                if before.as_ref() != Some(&seen) {
                    self.notes.note(seen);
                }
            }
        }
    }
}

/// Returns every entry of an agent in the tables.
fn entries(world: &World, agent: &Agent) -> Vec<(i64, Event)> {
    let head = world.memory.read_heads(&[(agent.scope, agent.id)]).now_or_never();
    let head = head.and_then(Result::ok).and_then(|heads| heads.first().copied());
    let entry = |seq: i64| {
        let shown = world.memory.show_entry(agent.scope, agent.id, Seq::new(seq)).now_or_never();
        let state = shown.and_then(Result::ok).flatten()?.state;
        Some((seq, record(agent, seq, state)))
    };
    (1..=head.unwrap_or_default().get()).filter_map(entry).collect()
}

fn record(agent: &Agent, number: i64, state: EntryStatus) -> Event {
    let incarnation = Incarnation::default();
    let buffer_id = EntryId { agent: agent.id, incarnation, seq: Seq::new(number) }.to_string();
    let (agent, seq) = (agent.name.clone(), number.unsigned_abs());
    match state {
        EntryStatus::Waiting { .. } => {
            Event::Inbox { agent, seq, buffer_id, state: EntryState::Pending }
        }
        EntryStatus::Acked { .. } => {
            Event::Inbox { agent, seq, buffer_id, state: EntryState::Acked }
        }
        EntryStatus::Parked(parked) => {
            Event::Parked { agent, seq, buffer_id, reason: parked.reason.slug().to_owned() }
        }
    }
}
