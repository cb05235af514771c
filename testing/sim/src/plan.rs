//! Generates all events of a world from the seed.

use std::time::Duration;

use nightdesk_types::Transport;

use crate::bus::Noise;
use crate::chance::Chance;
use crate::faults::Fault;
use crate::feed::Fed;
use crate::gateway::{Habit, LONG_TURN};
use crate::platform::Say;
use crate::store::Climate;

/// Range of the time of messages.
const SAYS_MS: (u64, u64) = (500, 25_000);

/// Range of the time of stops.
const STOPS_MS: (u64, u64) = (3_000, 25_000);

/// Range of the time of a revocation.
const REVOKED_MS: (u64, u64) = (5_000, 20_000);

/// Seeds per thousand without a fault, in which nothing is excused.
const FAULTLESS_PER_MILLE: u64 = 100;

/// Agents per thousand that poll, and that poll or have a webhook.
const POLLING_PER_MILLE: u64 = 150;
const WITHOUT_SOCKET_PER_MILLE: u64 = 300;

/// Agents per thousand without a WebSocket whose first turn takes long, in a run without faults.
const LONG_TURN_PER_MILLE: u64 = 150;

/// The climate of the store without faults.
const CALM: Climate = Climate { way_ms_max: 4, stalls_per_mille: 0, lost_per_mille: 0 };

/// The noise of the bus without faults.
const QUIET: Noise =
    Noise { takes_ms_max: 15, lost_per_mille: 0, doubled_per_mille: 0, late_per_mille: 0 };

/// A stop of an agent's turn.
#[derive(Clone, Debug)]
pub struct StopTurn {
    /// The time.
    pub at: Duration,
    /// The node that gets the request.
    pub node: String,
    /// Index of the agent in the cast.
    pub agent: usize,
}

/// The events of a world.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed.
    pub seed: u64,
    /// True if there are faults.
    pub faulty: bool,
    /// The nodes.
    pub nodes: Vec<String>,
    /// Number of agents of each tenant.
    pub tenants: Vec<usize>,
    /// Error rates of the connections to the store.
    pub climate: Climate,
    /// Error rates of the bus.
    pub noise: Noise,
    /// People's messages.
    pub says: Vec<Say>,
    /// Events of the feed, in order.
    pub feed: Vec<Fed>,
    /// Stops of turns.
    pub stops: Vec<StopTurn>,
    /// The faults.
    pub faults: Vec<Fault>,
    /// The time of a revocation, and the agent whose first gateway is revoked.
    pub revoked: Option<(Duration, usize)>,
    /// Behaviour of each agent's gateway.
    pub habits: Vec<Habit>,
    /// Transport of each agent.
    pub transports: Vec<Transport>,
}

impl Plan {
    /// Generates the plan of a seed.
    pub fn of(seed: u64, chance: &mut Chance) -> Self {
        let faulty = !chance.happens(FAULTLESS_PER_MILLE);
        let nodes: Vec<String> = (1..=chance.between(2, 3)).map(|n| format!("node-{n}")).collect();
        let tenants: Vec<usize> = (0..chance.between(2, 3)).map(|_| 1 + chance.place(2)).collect();
        let agents = tenants.iter().sum();
        let habits: Vec<_> = (0..agents).map(|_| Habit::of(chance, faulty)).collect();
        let revoked = chance
            .happens(250)
            .then(|| (chance.millis(REVOKED_MS.0, REVOKED_MS.1), chance.place(agents)));
        let plan = Self {
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
            transports: vec![Transport::WebSocket; agents],
            tenants,
            nodes,
        };
        plan.on_transports(chance)
    }

    /// Chooses the transports, and the agents whose first turn takes long.
    fn on_transports(mut self, chance: &mut Chance) -> Self {
        for (habit, transport) in self.habits.iter_mut().zip(&mut self.transports) {
            *transport = match chance.between(0, 999) {
                0..POLLING_PER_MILLE => Transport::Polling,
                POLLING_PER_MILLE..WITHOUT_SOCKET_PER_MILLE => Transport::Webhook,
                _ => Transport::WebSocket,
            };
            let takes_long = chance.happens(LONG_TURN_PER_MILLE);
            if takes_long && !self.faulty && *transport != Transport::WebSocket {
                habit.take_long();
            }
        }
        self
    }

    /// Returns the time of the last message and the last fault.
    pub fn last_event_at(&self) -> Duration {
        let said = self.says.iter().map(|say| say.at).chain(self.feed.iter().map(|fed| fed.at));
        said.chain(self.faults.iter().map(|fault| fault.off)).max().unwrap_or_default()
    }

    /// Returns the time of the longest turn.
    pub fn longest_turn(&self) -> Duration {
        let takes_long = self.habits.iter().any(Habit::takes_long);
        if takes_long { LONG_TURN } else { Duration::ZERO }
    }

    /// Returns the number of confirmations that the platform will get.
    pub fn posts(&self) -> usize {
        self.says.iter().map(|say| 1 + usize::from(say.doubled)).sum()
    }
}

/// Generates messages at random times, and bursts for some agents that do not fit into a window.
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

/// Generates the feed in bursts, so that several events are read at once.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_have_every_transport_and_long_turns() {
        let plans: Vec<Plan> =
            (1..=500).map(|seed| Plan::of(seed, &mut Chance::of(seed))).collect();
        let count = |is: &dyn Fn(&Plan) -> bool| plans.iter().filter(|plan| is(plan)).count();

        for transport in [Transport::WebSocket, Transport::Polling, Transport::Webhook] {
            assert!(count(&|plan| plan.transports.contains(&transport)) > 100, "{transport:?}");
        }
        assert!(count(&|plan| !plan.longest_turn().is_zero()) > 3);
    }
}
