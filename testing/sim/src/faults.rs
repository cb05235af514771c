//! The faults: their kinds, times and effects.

use std::time::Duration;

use turmoil::Sim;

use crate::bus::Noise;
use crate::chance::Chance;
use crate::drive::MESSAGE_TAKES;
use crate::gateway;
use crate::platform;
use crate::store::Climate;
use crate::world::World;

/// Range of the start of a fault.
const BEGIN_MS: (u64, u64) = (2_000, 22_000);

/// Range of the duration of a fault.
const LAST_MS: (u64, u64) = (300, 14_000);

/// Errors of a node's clock, in milliseconds.
const SKEWS_MS: [i64; 6] = [-7_200_000, -90_000, -4_000, 4_000, 90_000, 3_600_000];

/// A temporary fault.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The fault's id in the history.
    pub id: String,
    /// The start.
    pub on: Duration,
    /// The end.
    pub off: Duration,
    /// The kind of fault.
    pub what: Broken,
}

/// Kinds of faults.
#[derive(Clone, Debug)]
pub enum Broken {
    /// A node dies with its memory, and is restarted.
    Crash(String),
    /// A node is stopped gracefully, and is restarted.
    Stop(String),
    /// The store is down for all nodes.
    StoreDown,
    /// The store is unreachable for one node.
    StoreCut(String),
    /// Calls to the store stall, fail, or are executed without a response.
    StoreLossy(Climate),
    /// The bus is down for all nodes.
    BusDown,
    /// Hints are lost, doubled and overtaken, and the nodes cannot detect it.
    BusNoisy(Noise),
    /// The bus is unreachable for one node.
    BusCut(String),
    /// Messages between a node and an agent's gateway are held until the fault ends.
    Line(String, usize),
    /// Messages between a node and the platform are held, and its calls fail, until the fault ends.
    Platform(String),
    /// The clock of a node is wrong.
    Clock(String, i64),
}

impl Fault {
    /// Generates faults at random times.
    pub fn some(chance: &mut Chance, nodes: &[String], agents: usize) -> Vec<Self> {
        let mut fault = |number| {
            let on = chance.millis(BEGIN_MS.0, BEGIN_MS.1);
            let off = on + chance.millis(LAST_MS.0, LAST_MS.1);
            Self { id: format!("f{number}"), on, off, what: Broken::any(chance, nodes, agents) }
        };
        let count = 1 + u64::from(nodes.len() > 2);
        (0..count + 3).map(&mut fault).collect()
    }
}

impl Broken {
    fn any(chance: &mut Chance, nodes: &[String], agents: usize) -> Self {
        let node = chance.one_of(nodes).clone();
        match chance.between(0, 11) {
            0 | 1 => Self::Crash(node),
            2 => Self::Stop(node),
            3 => Self::StoreDown,
            4 => Self::StoreCut(node),
            5 => Self::StoreLossy(lossy(chance)),
            6 => Self::BusDown,
            7 => Self::BusCut(node),
            8 => Self::Line(node, chance.place(agents)),
            9 => Self::Platform(node),
            10 => Self::BusNoisy(noisy(chance)),
            _ => Self::Clock(node, *chance.one_of(&SKEWS_MS)),
        }
    }

    /// Returns the fault's name and place for the judge.
    pub fn told(&self, world: &World) -> (&'static str, String) {
        match self {
            Self::Crash(node) => ("crash", node.clone()),
            Self::Stop(node) => ("stop", node.clone()),
            Self::StoreDown => ("store down", "postgres".to_owned()),
            Self::StoreCut(node) => ("store cut", format!("{node}/postgres")),
            Self::StoreLossy(_) => ("store lossy", "postgres".to_owned()),
            Self::BusDown => ("bus down", "redis".to_owned()),
            Self::BusNoisy(_) => ("bus noisy", "redis".to_owned()),
            Self::BusCut(node) => ("bus cut", format!("{node}/redis")),
            Self::Line(node, agent) => {
                ("line cut", format!("{node}/gateway:{}", world.cast.agents[*agent].name))
            }
            Self::Platform(node) => ("platform cut", format!("{node}/platform")),
            // A wrong clock excuses nothing.
            Self::Clock(node, _) => ("clock", format!("clock:{node}")),
        }
    }

    /// Starts the fault.
    pub fn begin(&self, world: &World, sim: &mut Sim<'_>) {
        match self {
            Self::Crash(node) => {
                evenly(world, sim, node, |sim| sim.crash(node.as_str()));
                world.bus.forget(node);
            }
            Self::Stop(node) => world.machines[node].stop(),
            Self::StoreLossy(climate) => world.weather.set(*climate),
            Self::BusNoisy(noise) => world.bus.set(*noise),
            Self::Line(node, agent) => sim.hold(node.as_str(), host_of(world, *agent).as_str()),
            Self::StoreDown
            | Self::StoreCut(_)
            | Self::BusDown
            | Self::BusCut(_)
            | Self::Platform(_)
            | Self::Clock(..) => self.switch(world, sim, true),
        }
    }

    /// Ends the fault.
    pub fn end(&self, world: &World, sim: &mut Sim<'_>) {
        match self {
            Self::Crash(node) => evenly(world, sim, node, |sim| sim.bounce(node.as_str())),
            // The node is restarted when it has stopped.
            Self::Stop(_) => {}
            Self::StoreLossy(_) => world.weather.set(world.plan.climate),
            Self::BusNoisy(_) => world.bus.set(world.plan.noise),
            Self::Line(node, agent) => sim.release(node.as_str(), host_of(world, *agent).as_str()),
            Self::StoreDown
            | Self::StoreCut(_)
            | Self::BusDown
            | Self::BusCut(_)
            | Self::Platform(_)
            | Self::Clock(..) => self.switch(world, sim, false),
        }
    }

    fn switch(&self, world: &World, sim: &Sim<'_>, on: bool) {
        match self {
            Self::StoreDown => world.weather.set_down(on),
            Self::StoreCut(node) => world.weather.set_cut(node, on),
            Self::BusDown => world.bus.set_down(on),
            Self::BusCut(node) => world.bus.set_cut(node, on),
            Self::Platform(node) => {
                world.outside.set_cut(node, on);
                if on {
                    sim.hold(node.as_str(), platform::HOST);
                } else {
                    sim.release(node.as_str(), platform::HOST);
                }
            }
            Self::Clock(node, skew_ms) => {
                world.machines[node].clock.set_skew_ms(if on { *skew_ms } else { 0 });
            }
            Self::Crash(_)
            | Self::Stop(_)
            | Self::StoreLossy(_)
            | Self::BusNoisy(_)
            | Self::Line(..) => {}
        }
    }
}

fn host_of(world: &World, agent: usize) -> String {
    gateway::host(&world.cast.agents[agent])
}

fn lossy(chance: &mut Chance) -> Climate {
    Climate {
        way_ms_max: chance.between(4, 40),
        stalls_per_mille: chance.between(0, 100),
        lost_per_mille: *chance.one_of(&[10, 50, 200]),
    }
}

fn noisy(chance: &mut Chance) -> Noise {
    let often = *chance.one_of(&[50, 200, 600]);
    Noise {
        takes_ms_max: chance.between(5, 200),
        lost_per_mille: often,
        doubled_per_mille: often,
        late_per_mille: often / 2,
    }
}

/// Ends a node's process. The last segment of each of its connections takes the same time, because their order depends
/// on task ids, which all simulations of this process share.
pub fn evenly(world: &World, sim: &mut Sim<'_>, node: &str, end: impl FnOnce(&mut Sim<'_>)) {
    let gateways = world.cast.agents.iter().map(gateway::host);
    let others = world.plan.nodes.iter().filter(|other| *other != node).cloned();
    let peers: Vec<String> = gateways.chain(others).chain([platform::HOST.to_owned()]).collect();
    for peer in &peers {
        sim.set_link_latency(node, peer.as_str(), MESSAGE_TAKES.0);
    }
    end(sim);
    for peer in &peers {
        sim.set_link_max_message_latency(node, peer.as_str(), MESSAGE_TAKES.1);
    }
}
