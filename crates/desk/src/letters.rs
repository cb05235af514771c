//! Sends letters between agents.
//!
//! A letter takes the same road as any message: it is an entry of a chat that the desk creates, its agent is woken for
//! it, and the agent's message in that chat is the reply. The sender is the authenticated caller, never a field of the
//! body. Every public interface to letters calls [`Letters`] and decides nothing.

mod chat;
mod later;
mod road;
mod waiting;
mod ways;

use std::sync::Arc;
use std::time::Duration;

use nightdesk_bus::{Bell, Watchers};
use nightdesk_courier::{
    AgentConnector, Came, Cause, ConnectorError, Dispatched, Dispatcher, Grant, Letter,
    LetterWriter, Metrics, Notify, Party, Receipt, Receipts, Record, Route, Run, Store, Way,
    millis,
};
use nightdesk_protocol::delivery::{
    AgentDescriptor, AgentStatus, Capabilities, DeliveryReceipt, Payload, RequestResponseOpts,
    Response, TriggerKind, WakeOpts, WakeReceipt,
};
use nightdesk_schedule::Schedule;
use nightdesk_types::{LetterId, StoreError, SystemClock, TenantScope};
use tokio_util::task::TaskTracker;

pub use chat::{Told, entry};
pub(crate) use chat::{is_ours, said};
pub use later::arming;
pub(crate) use later::{lies_at, telling_of};
pub use road::Road;
pub use ways::{Outlet, Ways};

use road::Correspondent;

use crate::{Limits, Stops, Waking};

/// The parts that letters need: the store, the waiting callers of this node, and the configured ways.
#[derive(Clone)]
pub struct Courier {
    /// The store of the letters.
    pub store: Arc<dyn Store>,
    /// The gathered calls of the store.
    pub writer: Arc<LetterWriter>,
    /// The callers on this node that wait for replies.
    pub waits: Watchers,
    /// The ways of agents whose letters do not go through their inboxes.
    pub ways: Ways,
    /// The counters.
    pub metrics: Metrics,
}

impl Courier {
    /// Starts the writers over a store. They end when the courier is dropped.
    pub fn start(store: Arc<dyn Store>, waits: Watchers, ways: Ways, tasks: &TaskTracker) -> Self {
        let writer = Arc::new(LetterWriter::start(&store, tasks));
        Self { store, writer, waits, ways, metrics: Metrics::default() }
    }
}

impl std::fmt::Debug for Courier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Courier")
    }
}

/// The services that letters use.
#[derive(Debug)]
pub struct LetterContext {
    pub(crate) courier: Courier,
    pub(crate) limits: Arc<Limits>,
    pub(crate) schedule: Arc<Schedule>,
    pub(crate) waking: Arc<Waking>,
    pub(crate) bell: Arc<dyn Bell>,
}

impl LetterContext {
    pub(crate) fn new(stops: &Stops, waking: &Arc<Waking>) -> Self {
        let Stops { courier, limits, schedule, bell, .. } = stops.clone();
        Self { courier, limits, schedule, waking: Arc::clone(waking), bell }
    }
}

/// The letters of one sender.
#[derive(Clone, Debug)]
pub struct Letters {
    desk: Arc<LetterContext>,
    from: Party,
}

impl Letters {
    /// Creates the letters of this agent, for a caller that acts for it.
    pub fn by(desk: &Arc<LetterContext>, from: Party) -> Self {
        Self { desk: Arc::clone(desk), from }
    }

    /// Returns the sender.
    pub const fn from(&self) -> Party {
        self.from
    }

    /// Returns the agents that the sender can write to, with their status: its tenant's own agents, and agents of other
    /// tenants if both sides granted it.
    pub async fn reachable(&self) -> Result<Vec<(AgentDescriptor, AgentStatus)>, ConnectorError> {
        self.road().reachable().await
    }

    /// Sends a letter as its address says: with an `@` it wakes the agent, otherwise it is only delivered. An address
    /// that names no agent is no error: the letter then has no record.
    pub async fn notify(&self, notify: &Notify) -> Result<Dispatched, ConnectorError> {
        let (way, found) = self.take(&notify.address, None).await;
        let clock = Arc::new(SystemClock::started());
        let mut dispatcher = Dispatcher::new(Arc::new(GatheredReceipts(self.clone())), clock);
        let to = match found {
            Ok(to) => to,
            Err(Cause::UnknownAgent) => return Ok(dispatcher.reaches_nobody(notify)),
            Err(cause) => {
                let error = cause.to(&notify.address);
                self.desk.courier.metrics.came(way, &Came::Failed(error.clone().into()));
                return Err(error);
            }
        };
        let caller = Some(to.sender.clone());
        let run = Run::of(self.from.scope, TriggerKind::Agent, caller);
        let address = to.canonical(&notify.address);
        let taken =
            dispatcher.take_on(way.slug(), Arc::new(RoadTo { road: self.road(), to })).await;
        // The road is always healthy.
        drop(taken);
        let came = dispatcher.notify(&run, &Notify { address, ..notify.clone() }).await;
        for record in &came.records {
            self.desk.courier.metrics.came(way, &record.came);
        }
        Ok(came)
    }

    /// Delivers a payload, regardless of the form of its address.
    pub async fn deliver(
        &self,
        address: &str,
        payload: &Payload,
    ) -> Result<(Way, DeliveryReceipt), ConnectorError> {
        let (way, to) = self.take(address, None).await;
        let came = match to {
            Ok(to) => self.road().deliver_to(&to, address, payload).await,
            Err(cause) => Err(cause.to(address)),
        };
        let kept = came.clone().map(Came::Delivered);
        self.note(&payload.meta().dispatch_id, address, way, Route::Deliver, kept).await;
        came.map(|receipt| (way, receipt))
    }

    /// Wakes an agent with a payload, now or later.
    pub async fn wake(
        &self,
        address: &str,
        opts: &WakeOpts,
    ) -> Result<(Way, WakeReceipt), ConnectorError> {
        let (way, to) = self.take(address, opts.session_id.as_deref()).await;
        let came = match to {
            Ok(to) => self.road().wake_to(&to, address, opts).await,
            Err(cause) => Err(cause.to(address)),
        };
        if let Some(meta) = &opts.meta {
            let kept = came.clone().map(Came::Woken);
            self.note(&meta.dispatch_id, address, way, Route::Wake, kept).await;
        }
        came.map(|receipt| (way, receipt))
    }

    /// Calls an agent without a payload, so that it reads its inbox.
    pub async fn rouse(
        &self,
        address: &str,
        session: Option<&str>,
    ) -> Result<WakeReceipt, ConnectorError> {
        self.road().rouse(address, session).await
    }

    /// Delivers a payload and waits for the reply until the timeout.
    pub async fn exchange(
        &self,
        address: &str,
        payload: &Payload,
        wait: Duration,
    ) -> Result<Response, ConnectorError> {
        let timeout_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let opts = RequestResponseOpts { timeout_ms };
        let (way, to) = self.take(address, None).await;
        let came = match to {
            Ok(to) => self.road().exchange_with(&to, address, payload, &opts).await,
            Err(cause) => Err(cause.to(address)),
        };
        self.desk.courier.metrics.exchanged(way, &came);
        came
    }

    /// Returns a letter of the sender with its state.
    pub async fn show(&self, letter: LetterId) -> Result<Option<Letter>, StoreError> {
        self.desk.courier.store.letter(self.from, letter).await
    }

    /// Returns the sender's letters, newest first, at most one page.
    pub async fn list(&self, before: Option<LetterId>) -> Result<Vec<Letter>, StoreError> {
        self.desk.courier.store.letters(self.from, before).await
    }

    /// Returns the receipts of an emit, one for each way that it took.
    pub async fn receipts(&self, dispatch_id: &str) -> Result<Vec<Record>, StoreError> {
        self.desk.courier.store.receipts(self.from.scope, dispatch_id).await
    }

    /// Returns the grants that the sender's tenant gave to agents of other tenants, for this agent.
    pub async fn grants(&self) -> Result<Vec<Grant>, StoreError> {
        self.desk.courier.store.grants(self.from.scope, Some(self.from.agent)).await
    }

    /// Returns the current time in the format of letters.
    pub fn now(&self) -> nightdesk_protocol::delivery::Millis {
        millis(&SystemClock::started())
    }

    fn road(&self) -> Road {
        Road::new(&self.desk, self.from)
    }

    /// Looks a recipient up, once for the whole letter, and counts the letter by the way that it goes.
    async fn take(
        &self,
        address: &str,
        session: Option<&str>,
    ) -> (Way, Result<Correspondent, Cause>) {
        let Courier { ways, metrics, .. } = &self.desk.courier;
        let to = self.road().recipient(address, session).await;
        let way = to.as_ref().map_or(Way::Road, |to| ways.way_of(to.party));
        metrics.taken(way);
        (way, to)
    }

    async fn note(
        &self,
        dispatch_id: &str,
        address: &str,
        way: Way,
        route: Route,
        came: Result<Came, ConnectorError>,
    ) {
        let record = Record {
            dispatch_id: dispatch_id.to_owned(),
            connector: way.slug().to_owned(),
            address: address.to_owned(),
            route,
            came: came.unwrap_or_else(|error| Came::Failed(error.into())),
        };
        self.desk.courier.metrics.came(way, &record.came);
        let receipt = Receipt { scope: self.from.scope, record };
        if let Err(error) = self.desk.courier.writer.note(receipt).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "a receipt of a letter is not stored");
        }
    }
}

/// Receipts that are stored together with those of other senders.
struct GatheredReceipts(Letters);

#[async_trait::async_trait]
impl Receipts for GatheredReceipts {
    async fn note(&self, receipts: &[Receipt]) -> Result<(), StoreError> {
        for receipt in receipts {
            self.0.desk.courier.writer.note(receipt.clone()).await?;
        }
        Ok(())
    }

    async fn receipts(&self, scope: TenantScope, id: &str) -> Result<Vec<Record>, StoreError> {
        self.0.desk.courier.store.receipts(scope, id).await
    }
}

/// The road to the one recipient that was looked up.
struct RoadTo {
    road: Road,
    to: Correspondent,
}

#[async_trait::async_trait]
impl AgentConnector for RoadTo {
    fn static_capabilities() -> Capabilities {
        Road::static_capabilities()
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        let agent_id = self.to.name.clone();
        Ok(vec![AgentDescriptor { agent_id, ..AgentDescriptor::default() }])
    }

    async fn deliver(
        &self,
        address: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        self.road.deliver_to(&self.to, address, payload).await
    }

    async fn wake(&self, address: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        self.road.wake_to(&self.to, address, opts).await
    }

    async fn health_check(&self) -> bool {
        true
    }
}
