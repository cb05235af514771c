//! World: what there is in a simulation, and outlives the death of any node.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use nightdesk_inbox::Aside;
use nightdesk_testkit::scripted::Scripted;
use nightdesk_testkit::{FakeClock, Memory};
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

/// Where nodes listen.
pub const PORT: u16 = 80;

/// What there is.
pub struct World {
    /// What will happen.
    pub plan: Plan,
    /// Who is there.
    pub cast: Cast,
    /// The database.
    pub memory: Memory,
    /// The wires to it.
    pub weather: Weather,
    /// The bell between nodes.
    pub bus: SimBus,
    /// What is read and not posted.
    pub feed: Feed,
    /// The wires to the platform.
    pub outside: Outside,
    /// Reads what platforms post.
    pub scripted: Arc<Scripted>,
    /// The machines that nodes run on.
    pub machines: BTreeMap<String, Machine>,
    untold: AtomicUsize,
}

/// A machine that a node runs on.
#[derive(Debug)]
pub struct Machine {
    /// Its clock.
    pub clock: SimClock,
    /// What is seen there.
    pub notes: Notes,
    stop: Mutex<CancellationToken>,
}

impl Machine {
    /// A new life of its node begins: how it is told to stop.
    pub fn begin(&self) -> CancellationToken {
        let stop = CancellationToken::new();
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = stop.clone();
        stop
    }

    /// Tells its node to stop.
    pub fn stop(&self) {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }
}

impl World {
    /// The world of a plan. Its histories go into a folder.
    pub fn of(plan: Plan, mut chance: Chance, histories: &mut Histories) -> anyhow::Result<Self> {
        let memory = Memory::new(FakeClock::default());
        let cast = Cast::entered(&memory, &plan.tenants)?;
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

    /// The platform was told that an event was taken.
    pub fn told(&self) {
        self.untold.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether everything was taken, and nothing waits for anybody.
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
