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

use nightdesk_bus::Watchers;
use nightdesk_courier::{
    AgentConnector, Came, ConnectorError, Dispatched, Dispatcher, Grant, Letter, Metrics, Notify,
    Party, Record, Route, Run, Store, Way, millis,
};
use nightdesk_protocol::delivery::{
    AgentDescriptor, AgentStatus, DeliveryReceipt, Payload, RequestResponseOpts, Response,
    TriggerKind, WakeOpts, WakeReceipt,
};
use nightdesk_register::Caller;
use nightdesk_types::{LetterId, StoreError, SystemClock, TenantScope};

pub use chat::{Told, entry};
pub(crate) use chat::{is_ours, said};
pub use later::arming;
pub(crate) use later::{lies_at, telling_of};
pub use road::Road;
pub use ways::{Outlet, Ways};

use crate::Desk;

/// The parts that letters need: the store, the waiting callers of this node, and the configured ways.
#[derive(Clone)]
pub struct Courier {
    /// The store of the letters.
    pub store: Arc<dyn Store>,
    /// The callers on this node that wait for replies.
    pub waits: Watchers,
    /// The ways of agents whose letters do not go through their inboxes.
    pub ways: Ways,
    /// The counters.
    pub metrics: Metrics,
}

impl Courier {
    /// Creates a courier over this store, these waiting callers and these ways.
    pub fn new(store: Arc<dyn Store>, waits: Watchers, ways: Ways) -> Self {
        Self { store, waits, ways, metrics: Metrics::default() }
    }
}

impl std::fmt::Debug for Courier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Courier")
    }
}

/// The letters of one sender.
#[derive(Clone, Debug)]
pub struct Letters {
    desk: Arc<Desk>,
    from: Party,
}

impl Letters {
    /// Creates the letters of an authenticated caller.
    pub fn of(desk: &Arc<Desk>, caller: &Caller) -> Self {
        Self::by(desk, Party { scope: caller.scope, agent: caller.agent })
    }

    /// Creates the letters of this agent, for a caller that acts for it.
    pub fn by(desk: &Arc<Desk>, from: Party) -> Self {
        Self { desk: Arc::clone(desk), from }
    }

    /// Returns the sender.
    pub const fn from(&self) -> Party {
        self.from
    }

    /// Returns the agents that the sender can write to, with their status: its tenant's own agents, and agents of other
    /// tenants if both sides granted it.
    pub async fn reachable(&self) -> Result<Vec<(AgentDescriptor, AgentStatus)>, ConnectorError> {
        self.road().await?.reachable().await
    }

    /// Sends a letter as its address says: with an `@` it wakes the agent, otherwise it is only delivered.
    pub async fn notify(&self, notify: &Notify) -> Result<Dispatched, ConnectorError> {
        let road = self.road().await?;
        let address = road.canonical(&notify.address).await?;
        let way = road.way_to(&address).await.inspect_err(|error| self.refused(error))?;
        self.desk.courier.metrics.taken(way);
        let run = Run::of(self.from.scope, TriggerKind::Agent, Some(road.called().to_owned()));
        let clock = Arc::new(SystemClock::started());
        let mut dispatcher = Dispatcher::new(Arc::new(Noting(Arc::clone(&self.desk))), clock);
        let taken = dispatcher.take_on(way.slug(), Arc::new(road)).await;
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
        let (road, way) = self.taken(address).await?;
        let came = road.deliver(address, payload).await;
        let kept = came.clone().map(Came::Delivered);
        self.note(&payload.meta().dispatch_id, address, (way, Route::Deliver), kept).await;
        came.map(|receipt| (way, receipt))
    }

    /// Wakes an agent with a payload, now or later.
    pub async fn wake(
        &self,
        address: &str,
        opts: &WakeOpts,
    ) -> Result<(Way, WakeReceipt), ConnectorError> {
        let (road, way) = self.taken(address).await?;
        let came = road.wake(address, opts).await;
        if let Some(meta) = &opts.meta {
            let kept = came.clone().map(Came::Woken);
            self.note(&meta.dispatch_id, address, (way, Route::Wake), kept).await;
        }
        came.map(|receipt| (way, receipt))
    }

    /// Calls an agent without a payload, so that it reads its inbox.
    pub async fn rouse(
        &self,
        address: &str,
        session: Option<&str>,
    ) -> Result<WakeReceipt, ConnectorError> {
        self.road().await?.rouse(address, session).await
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
        let (road, way) = self.taken(address).await?;
        let came = road.request_response(address, payload, &opts).await;
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

    async fn road(&self) -> Result<Road, ConnectorError> {
        Road::from(&self.desk, self.from).await
    }

    /// Returns the way that a letter takes and counts it. The permission to send is checked later, on the road.
    async fn taken(&self, address: &str) -> Result<(Road, Way), ConnectorError> {
        let (road, courier) = (self.road().await?, &self.desk.courier);
        let way = if courier.ways.is_empty() {
            Way::Road
        } else {
            road.way_to(address).await.unwrap_or(Way::Road)
        };
        courier.metrics.taken(way);
        Ok((road, way))
    }

    /// Counts a letter that was refused before it took a way.
    fn refused(&self, error: &ConnectorError) {
        let metrics = &self.desk.courier.metrics;
        metrics.taken(Way::Road);
        metrics.came(Way::Road, &Came::Failed(error.clone().into()));
    }

    async fn note(
        &self,
        dispatch_id: &str,
        address: &str,
        (way, route): (Way, Route),
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
        if let Err(error) = self.desk.courier.store.note(self.from.scope, &record).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "what came of a letter is not written down");
        }
    }
}

/// Writes receipts into the store of the letters.
struct Noting(Arc<Desk>);

#[async_trait::async_trait]
impl nightdesk_courier::Receipts for Noting {
    async fn note(&self, scope: TenantScope, record: &Record) -> Result<(), StoreError> {
        self.0.courier.store.note(scope, record).await
    }

    async fn receipts(&self, scope: TenantScope, id: &str) -> Result<Vec<Record>, StoreError> {
        self.0.courier.store.receipts(scope, id).await
    }
}
