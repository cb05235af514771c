//! Measures a gate on the real tables, refreshed as a node refreshes it, with one deciding thread.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use async_trait::async_trait;
use nightdesk_gate::bot_reach::ScopedAgent;
use nightdesk_gate::{
    BotMessage, BotPrompt, EventFacts, EventPlace, Gate, Reach, ReachChange, RefusalNote, Store,
    StoredRefusal,
};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::REACH_LOOK_EVERY;
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::cluster::Cluster;
use crate::procfs;
use crate::setup::{self, Cast, new_vault};
use crate::stage::DATABASE;

/// Number of decisions between two reads of the clock.
const AT_ONCE: usize = 512;

thread_local! {
    /// True on the thread that decides.
    static DECIDES: Cell<bool> = const { Cell::new(false) };
}

/// The measured decisions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decided {
    /// Number of decisions.
    pub decisions: u64,
    /// Number of decisions that admit no agent.
    pub refusals: u64,
    /// Number of decisions that needed the store.
    pub trips: u64,
    /// CPU time of the deciding thread.
    pub cpu: Duration,
}

/// Decides for the given time, with `guests` chats open to guests.
pub fn decide(cluster: &Cluster, cast: &Cast, guests: usize, lasts: Duration) -> Result<Decided> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.context("could not start the runtime")?;
    let cases = cases(cast, guests);
    let bot = cast.bots[0].bot;
    runtime.block_on(async {
        let pg = Pg::connect(&cluster.app_url(DATABASE), None, new_vault()?);
        let pg = Arc::new(pg.context("could not reach the database")?);
        let (store, trips) = Counted::over(Arc::clone(&pg));
        let gate = Arc::new(Gate::new(Arc::new(store)));
        let mut looking = JoinSet::new();
        looking.spawn(keep_up(Arc::clone(&gate)));
        let decided = tokio::task::spawn_blocking(move || {
            Handle::current().block_on(count(&gate, bot, &cases, (lasts, &trips)))
        });
        let decided = decided.await.context("deciding ended badly")?;
        looking.shutdown().await;
        pg.close().await;
        decided
    })
}

/// Refreshes the gate as a node does. After a failed refresh the deciding thread must query, which is counted.
async fn keep_up(gate: Arc<Gate>) {
    while gate.reload_changed().await.is_ok() {
        sleep(REACH_LOOK_EVERY).await;
    }
}

async fn count(
    gate: &Gate,
    bot: BotId,
    cases: &[(String, String)],
    (lasts, trips): (Duration, &AtomicU64),
) -> Result<Decided> {
    // The first event of a bot waits for the snapshot of that bot.
    gate.explain(bot, &facts(&cases[0]), None).await?;
    DECIDES.set(true);
    let (began, cpu) = (Instant::now(), procfs::cpu_of_this_thread()?);
    let mut decided = Decided::default();
    let mut next = cases.iter().cycle();
    while began.elapsed() < lasts {
        for case in next.by_ref().take(AT_ONCE) {
            let decision = black_box(gate.explain(bot, &facts(case), None).await?);
            decided.refusals += u64::from(decision.recipients().is_err());
            decided.decisions += 1;
        }
    }
    DECIDES.set(false);
    decided.cpu = procfs::cpu_of_this_thread()?.saturating_sub(cpu);
    decided.trips = trips.load(Ordering::Relaxed);
    Ok(decided)
}

/// Returns author and chat of each case: authors of agents, strangers in open chats, and strangers without an agent.
fn cases(cast: &Cast, guests: usize) -> Vec<(String, String)> {
    let of_one = |number: usize| {
        let stranger = format!("s{number:06}");
        [
            (setup::author(number), setup::chat(number)),
            (stranger.clone(), setup::open_chat(number % guests)),
            (stranger, setup::chat(number)),
        ]
    };
    (0..cast.members.len()).flat_map(of_one).collect()
}

fn facts((author, chat): &(String, String)) -> EventFacts<'_> {
    EventFacts {
        author,
        is_program: false,
        is_addressed: false,
        takes_part: false,
        place: EventPlace { scope: None, chat, parent: None, is_direct: false },
    }
}

/// A store that counts the queries of the deciding thread.
struct Counted {
    pg: Arc<Pg>,
    trips: Arc<AtomicU64>,
}

impl Counted {
    fn over(pg: Arc<Pg>) -> (Self, Arc<AtomicU64>) {
        let trips = Arc::<AtomicU64>::default();
        (Self { pg, trips: Arc::clone(&trips) }, trips)
    }

    fn asked(&self) -> &dyn Store {
        self.trips.fetch_add(u64::from(DECIDES.get()), Ordering::Relaxed);
        &*self.pg
    }
}

#[async_trait]
impl Store for Counted {
    async fn read_changes(
        &self,
        bot: BotId,
        since: Option<i64>,
    ) -> Result<ReachChange, StoreError> {
        self.asked().read_changes(bot, since).await
    }

    async fn changed_bots(&self, bots: &[(BotId, i64)]) -> Result<Vec<BotId>, StoreError> {
        self.asked().changed_bots(bots).await
    }

    async fn find_reaches(
        &self,
        scope: TenantScope,
        agent: AgentId,
        chat: &str,
    ) -> Result<Vec<Reach>, StoreError> {
        self.asked().find_reaches(scope, agent, chat).await
    }

    async fn takes_part(
        &self,
        scope: TenantScope,
        agent: AgentId,
        bot: BotId,
        chat: &str,
    ) -> Result<bool, StoreError> {
        self.asked().takes_part(scope, agent, bot, chat).await
    }

    async fn record_prompt(
        &self,
        scope: TenantScope,
        agent: AgentId,
        prompt: BotPrompt<'_>,
    ) -> Result<bool, StoreError> {
        self.asked().record_prompt(scope, agent, prompt).await
    }

    async fn find_prompt_agent(
        &self,
        prompt: BotPrompt<'_>,
    ) -> Result<Option<ScopedAgent>, StoreError> {
        self.asked().find_prompt_agent(prompt).await
    }

    async fn find_message_sender(
        &self,
        message: &BotMessage,
    ) -> Result<Option<ScopedAgent>, StoreError> {
        self.asked().find_message_sender(message).await
    }

    async fn read_refusals(
        &self,
        scope: TenantScope,
        event_key: &str,
    ) -> Result<Vec<StoredRefusal>, StoreError> {
        self.asked().read_refusals(scope, event_key).await
    }

    async fn note_refusals(&self, notes: &[RefusalNote]) -> Result<(), StoreError> {
        self.asked().note_refusals(notes).await
    }
}
