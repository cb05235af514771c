//! Letters that another connector than the inbox delivers, because the operator configured it for their agent.
//!
//! The desk records a letter first, so that hops, grants and repeats count as on the road. Then it calls the connector
//! once: the result is the receipt, and a refused sender retries with the same id. Only a letter for later is
//! retried by the schedule, like every fire.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use nightdesk_courier::{
    AgentConnector, Came, Cause, ConnectorError, Due, LetterEntry, Party, Record, Route, Way,
    is_passing, millis,
};
use nightdesk_protocol::delivery::{
    AgentStatus, DeliveryReceipt, Kind, Meta, Origin, Payload, WakeOpts, WakeReceipt,
};
use nightdesk_schedule::Outcome;
use nightdesk_types::limits::{CONNECTOR_WAIT, WAY_WHEN_DUE_WAIT};
use nightdesk_types::{LetterId, StoreError, SystemClock};
use serde_json::Value;
use tokio::time::timeout;

use super::LetterContext;
use super::road::{Correspondent, Road, Said, said};

/// The way of one agent's letters.
#[derive(Clone)]
pub struct Outlet {
    /// The kind of way.
    pub way: Way,
    /// The agent's name there.
    pub called: String,
    /// The connector.
    pub connector: Arc<dyn AgentConnector>,
}

/// The ways of all agents whose letters do not go through their inboxes.
#[derive(Clone, Debug, Default)]
pub struct Ways(BTreeMap<Party, Outlet>);

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outlet({} {})", self.way.slug(), self.called)
    }
}

impl FromIterator<(Party, Outlet)> for Ways {
    fn from_iter<T: IntoIterator<Item = (Party, Outlet)>>(ways: T) -> Self {
        Self(ways.into_iter().collect())
    }
}

impl Ways {
    /// Returns the way of an agent, if it is not the road.
    pub fn of(&self, party: Party) -> Option<&Outlet> {
        self.0.get(&party)
    }

    /// Returns the way of letters to an agent.
    pub(super) fn way_of(&self, party: Party) -> Way {
        self.of(party).map_or(Way::Road, |outlet| outlet.way)
    }
}

impl Outlet {
    /// Returns the agent's address for the connector. Only the operator decides which terminal is typed into.
    fn address(&self, session: Option<&str>) -> String {
        match session.filter(|_| self.way != Way::Tmux) {
            Some(session) => format!("{}@{session}", self.called),
            None => self.called.clone(),
        }
    }

    /// Returns the status of the agent.
    pub(super) async fn status(&self) -> AgentStatus {
        let asked = timeout(CONNECTOR_WAIT, self.connector.agent_status(&self.called)).await;
        asked.ok().and_then(Result::ok).unwrap_or_default()
    }

    async fn deliver(
        &self,
        session: Option<&str>,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, Cause> {
        let address = self.address(session);
        in_time(self.connector.deliver(&address, payload)).await
    }

    async fn wake(&self, session: Option<&str>, opts: &WakeOpts) -> Result<WakeReceipt, Cause> {
        let address = self.address(session);
        let session_id = session.filter(|_| self.way != Way::Tmux).map(str::to_owned);
        let opts = WakeOpts { session_id, ..opts.clone() };
        in_time(self.connector.wake(&address, &opts)).await
    }
}

async fn in_time<T>(asked: impl Future<Output = Result<T, ConnectorError>>) -> Result<T, Cause> {
    let asked =
        timeout(CONNECTOR_WAIT, asked).await.unwrap_or_else(|_| Err(Cause::TimedOut.to("")));
    asked.map_err(|error| match error {
        ConnectorError::DeliveryFailed { cause, .. } => cause,
        ConnectorError::NotImplemented(what) => Cause::Invalid(format!("{what} is not possible")),
        ConnectorError::Timeout { .. } => Cause::TimedOut,
    })
}

impl Road {
    /// Delivers a payload by another way.
    pub(super) async fn deliver_by(
        &self,
        outlet: &Outlet,
        to: &Correspondent,
        address: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, Cause> {
        let said = said(payload, None);
        let came = self.put(to, &said).await?;
        if let Some(Came::Delivered(receipt)) = self.before(outlet, &said, address).await {
            return Ok(receipt);
        }
        let meta = proven(to, payload.meta());
        let payload = payload.kind().of(payload.words().to_owned(), meta);
        let receipt = outlet.deliver(to.session.as_deref(), &payload).await?;
        let delivery_id = receipt.delivery_id.or_else(|| Some(came.letter().to_string()));
        Ok(DeliveryReceipt { delivery_id, ..receipt })
    }

    /// Wakes an agent by another way. `None`: the letter is not due yet, and was stored.
    pub(super) async fn wake_by(
        &self,
        outlet: &Outlet,
        to: &Correspondent,
        address: &str,
        said: &Said<'_>,
        opts: &WakeOpts,
    ) -> Result<Option<WakeReceipt>, Cause> {
        let came = self.put(to, said).await?;
        if came.is_kept() {
            return Ok(None);
        }
        if let Some(Came::Woken(receipt)) = self.before(outlet, said, address).await {
            return Ok(Some(receipt));
        }
        let meta = opts.meta.as_deref().map(|meta| Box::new(proven(to, meta)));
        // The letter is due, so the connector need not wait.
        let opts = WakeOpts { meta, when: None, ..opts.clone() };
        outlet.wake(to.session.as_deref(), &opts).await.map(Some)
    }

    /// Wakes an agent by another way, without a context.
    pub(super) async fn rouse_by(
        &self,
        outlet: &Outlet,
        to: &Correspondent,
    ) -> Result<WakeReceipt, Cause> {
        outlet.wake(to.session.as_deref(), &WakeOpts::default()).await
    }

    /// Returns the result of the same letter by this way, if it succeeded before.
    async fn before(&self, outlet: &Outlet, said: &Said<'_>, address: &str) -> Option<Came> {
        let store = &self.desk.courier.store;
        let receipts = store.receipts(self.from.scope, said.dispatch_id).await.ok()?;
        let is_it = |record: &Record| {
            record.connector == outlet.way.slug()
                && record.address == address
                && record.came.is_ok()
        };
        receipts.into_iter().find(is_it).map(|record| record.came)
    }
}

/// Returns the meta of a letter with the proven name of its sender.
fn proven(to: &Correspondent, meta: &Meta) -> Meta {
    let mut meta = meta.clone();
    meta.origin.caller_agent_id = Some(to.sender.clone());
    meta
}

/// Delivers a letter that is due by its agent's way.
pub(super) async fn hand_over(
    desk: &LetterContext,
    outlet: &Outlet,
    to: Party,
    letter: LetterId,
    due: &Due,
) -> Result<Outcome, StoreError> {
    desk.courier.metrics.taken(outlet.way);
    let came = match kept(&due.entry) {
        Some((session, payload)) => {
            let asked = asked(outlet, due.route, session.as_deref(), payload);
            timeout(WAY_WHEN_DUE_WAIT, asked).await.unwrap_or(Err(Cause::TimedOut))
        }
        None => Err(Cause::Invalid("what is kept of it cannot be read".to_owned())),
    };
    let failed = |cause: Cause| Came::Failed(cause.to(&outlet.called).into());
    let came = came.unwrap_or_else(failed);
    desk.courier.metrics.came(outlet.way, &came);
    Ok(match came {
        Came::Delivered(_) | Came::Woken(_) => {
            desk.courier.store.came(to, letter, None).await?;
            Outcome::Taken(format!("handed over by {}", outlet.way.slug()))
        }
        Came::Failed(failure) if is_passing(&failure.cause) => Outcome::Again(failure.words, None),
        Came::Failed(failure) => Outcome::Refused(failure.words),
    })
}

async fn asked(
    outlet: &Outlet,
    route: Route,
    session: Option<&str>,
    payload: Payload,
) -> Result<Came, Cause> {
    match route {
        Route::Deliver => outlet.deliver(session, &payload).await.map(Came::Delivered),
        Route::Wake => {
            let context = Some(payload.words().to_owned()).filter(|words| !words.is_empty());
            let meta = Some(Box::new(payload.meta().clone()));
            let opts = WakeOpts { context, meta, ..WakeOpts::default() };
            outlet.wake(session, &opts).await.map(Came::Woken)
        }
    }
}

/// Returns the session and the original letter from its stored entry.
fn kept(entry: &LetterEntry) -> Option<(Option<String>, Payload)> {
    let body: Value = serde_json::from_slice(&entry.body).ok()?;
    let (words, letter) = (body["event"]["text"].as_str()?, &body["event"]["letter"]);
    let text = |name: &str| letter[name].as_str().map(str::to_owned);
    let origin = Origin::anonymous(text("from"));
    let meta = Meta {
        dispatch_id: text("dispatch_id")?,
        sent_at: millis(&SystemClock::started()),
        origin: serde_json::from_value(letter["origin"].clone()).unwrap_or(origin),
        event_type: text("event_type"),
        correlation_id: text("correlation_id"),
    };
    let kind = Kind::named(letter["kind"].as_str()?)?;
    Some((text("session_id"), kind.of(words.to_owned(), meta)))
}
