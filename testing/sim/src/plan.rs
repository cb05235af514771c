//! Plan: what will happen in a world, all of it from the seed.

use std::time::Duration;

use crate::bus::Noise;
use crate::chance::Chance;
use crate::faults::Fault;
use crate::feed::Fed;
use crate::gateway::Habit;
use crate::platform::Say;
use crate::store::Climate;

/// Within which time people write, ...
const SAYS_MS: (u64, u64) = (500, 25_000);

/// ... and turns are stopped.
const STOPS_MS: (u64, u64) = (3_000, 25_000);

/// When a gateway is revoked.
const REVOKED_MS: (u64, u64) = (5_000, 20_000);

/// Seeds without a fault, of a thousand: there nothing is excused.
const FAULTLESS_PER_MILLE: u64 = 100;

/// What is usual where nothing is broken.
const CALM: Climate = Climate { way_ms_max: 4, stalls_per_mille: 0, lost_per_mille: 0 };

/// The same for the bus.
const QUIET: Noise =
    Noise { takes_ms_max: 15, lost_per_mille: 0, doubled_per_mille: 0, late_per_mille: 0 };

/// Somebody wants an agent's turn stopped.
#[derive(Clone, Debug)]
pub struct StopTurn {
    /// When.
    pub at: Duration,
    /// On which node that is asked.
    pub node: String,
    /// The agent, by its place in the cast.
    pub agent: usize,
}

/// What will happen.
#[derive(Clone, Debug)]
pub struct Plan {
    /// From which seed.
    pub seed: u64,
    /// Whether anything breaks.
    pub faulty: bool,
    /// The nodes.
    pub nodes: Vec<String>,
    /// How many agents each tenant has.
    pub tenants: Vec<usize>,
    /// How the wires to the store are.
    pub climate: Climate,
    /// How the bus is.
    pub noise: Noise,
    /// What people say.
    pub says: Vec<Say>,
    /// What is said in the feed, in its order.
    pub feed: Vec<Fed>,
    /// Which turns are stopped.
    pub stops: Vec<StopTurn>,
    /// What breaks.
    pub faults: Vec<Fault>,
    /// When which agent's first gateway is revoked.
    pub revoked: Option<(Duration, usize)>,
    /// How each agent's gateway behaves.
    pub habits: Vec<Habit>,
}

impl Plan {
    /// The plan of a seed.
    pub fn of(seed: u64, chance: &mut Chance) -> Self {
        let faulty = !chance.happens(FAULTLESS_PER_MILLE);
        let nodes: Vec<String> = (1..=chance.between(2, 3)).map(|n| format!("node-{n}")).collect();
        let tenants: Vec<usize> = (0..chance.between(2, 3)).map(|_| 1 + chance.place(2)).collect();
        let agents = tenants.iter().sum();
        let habits: Vec<_> = (0..agents).map(|_| Habit::of(chance, faulty)).collect();
        let revoked = chance
            .happens(250)
            .then(|| (chance.millis(REVOKED_MS.0, REVOKED_MS.1), chance.place(agents)));
        Self {
            seed,
            faulty,
            climate: CALM,
            noise: QUIET,
            says: says(chance, agents),
            feed: feed(chance, agents),
            stops: stops(chance, &nodes, agents),
            faults: if faulty { Fault::some(chance, &nodes, agents) } else { Vec::new() },
            revoked: revoked.filter(|_| faulty),
            habits,
            tenants,
            nodes,
        }
    }

    /// How often a platform will be told that something was taken.
    pub fn posts(&self) -> usize {
        self.says.iter().map(|say| 1 + usize::from(say.doubled)).sum()
    }
}

/// Some write now and then, and some agents get a burst that does not fit into a window.
fn says(chance: &mut Chance, agents: usize) -> Vec<Say> {
    let mut says = Vec::new();
    for number in 0..chance.between(10, 40) {
        let to = Some(chance.place(agents)).filter(|_| !chance.happens(50));
        let (at, doubled) = (chance.millis(SAYS_MS.0, SAYS_MS.1), chance.happens(80));
        says.push(Say { at, to, id: format!("e{number}"), doubled });
    }
    if chance.happens(500) {
        let (to, at) = (Some(chance.place(agents)), chance.millis(SAYS_MS.0, SAYS_MS.1));
        for number in 0..chance.between(14, 40) {
            let at = at + chance.millis(0, 400);
            says.push(Say { at, to, id: format!("b{number}"), doubled: false });
        }
    }
    says
}

/// The feed comes in gusts: then several events are read at once.
fn feed(chance: &mut Chance, agents: usize) -> Vec<Fed> {
    let mut feed = Vec::new();
    for _ in 0..chance.between(2, 5) {
        let at = chance.millis(SAYS_MS.0, SAYS_MS.1);
        let gust = chance.between(1, 8);
        feed.extend((0..gust).map(|_| Fed { at, to: chance.place(agents) }));
    }
    feed.sort_by_key(|fed| fed.at);
    feed
}

fn stops(chance: &mut Chance, nodes: &[String], agents: usize) -> Vec<StopTurn> {
    let mut stop = |_| StopTurn {
        at: chance.millis(STOPS_MS.0, STOPS_MS.1),
        node: chance.one_of(nodes).clone(),
        agent: chance.place(agents),
    };
    (0..3).map(&mut stop).collect()
}
