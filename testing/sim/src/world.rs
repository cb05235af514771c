//! The parts of a simulation that outlive any node.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use nightdesk_inbox::InboxAdmin;
use nightdesk_memory::Memory;
use nightdesk_testkit::FakeClock;
use nightdesk_testkit::scripted::Scripted;
use nightdesk_types::Seq;
use tokio_util::sync::CancellationToken;

use crate::bus::SimBus;
use crate::cast::{Agent, Cast};
use crate::chance::Chance;
use crate::feed::Feed;
use crate::notes::{Histories, Notes};
use crate::plan::Plan;
use crate::platform::Outside;
use crate::store::Weather;
use crate::time::SimClock;

/// Port on which nodes listen.
pub const PORT: u16 = 80;

/// The parts of a world.
pub struct World {
    /// The planned events.
    pub plan: Plan,
    /// The participants.
    pub cast: Cast,
    /// The database.
    pub memory: Memory,
    /// The connections to the database.
    pub weather: Weather,
    /// The bell between nodes.
    pub bus: SimBus,
    /// The source that nodes read.
    pub feed: Feed,
    /// The connections to the platform.
    pub outside: Outside,
    /// Parses the platform's requests.
    pub scripted: Arc<Scripted>,
    /// The machines of the nodes.
    pub machines: BTreeMap<String, Machine>,
    untold: AtomicUsize,
}

/// The machine of a node.
#[derive(Debug)]
pub struct Machine {
    /// The machine's clock.
    pub clock: SimClock,
    /// The records of the machine.
    pub notes: Notes,
    stop: Mutex<CancellationToken>,
}

impl Machine {
    /// Begins a new process of the node, and returns its stop signal.
    pub fn begin(&self) -> CancellationToken {
        let stop = CancellationToken::new();
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = stop.clone();
        stop
    }

    /// Stops the node.
    pub fn stop(&self) {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }
}

impl World {
    /// Creates the world of a plan. Its histories go into a folder.
    pub fn of(plan: Plan, mut chance: Chance, histories: &mut Histories) -> anyhow::Result<Self> {
        let memory = Memory::new(FakeClock::default());
        let cast = Cast::entered(&memory, &plan.tenants)?;
        cast.set_webhooks(&memory, &plan)?;
        let machines = plan.nodes.iter().map(|name| {
            let notes = histories.begin(name)?;
            let (clock, stop) = (SimClock::default(), Mutex::default());
            Ok((name.clone(), Machine { clock, notes, stop }))
        });
        Ok(Self {
            machines: machines.collect::<anyhow::Result<_>>()?,
            weather: Weather::of(chance.fork(), plan.climate),
            bus: SimBus::of(chance.fork(), plan.noise),
            outside: Outside::of(chance.fork(), plan.faulty),
            scripted: Arc::new(Scripted::new()?),
            feed: Feed::new(histories.begin("feed")?),
            untold: AtomicUsize::new(plan.posts() + plan.feed.len()),
            plan,
            cast,
            memory,
        })
    }

    /// Records that the platform got the confirmation of an event.
    pub fn told(&self) {
        self.untold.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns true if every event was accepted and no entry waits.
    pub fn is_settled(&self) -> bool {
        self.untold.load(Ordering::Relaxed) == 0
            && self.cast.agents.iter().all(|agent| !self.waits(agent))
    }

    fn waits(&self, agent: &Agent) -> bool {
        let overview = self.memory.overview(agent.scope, agent.id, Seq::default());
        let overview = overview.now_or_never().and_then(Result::ok).flatten();
        overview.is_none_or(|overview| !overview.waiting.is_empty())
    }
}
