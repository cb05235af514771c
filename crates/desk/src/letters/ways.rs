//! Ways: letters that go out by something else than the inbox, because the desk's operator said so for their agent.
//!
//! A letter is written down first, so that hops, grants and repeats count as on the road. Then its way is asked, once: what
//! comes of it is the receipt, and whoever is refused asks again with the same id. Only what is due later is tried again, by
//! the schedule, as every fire is.

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

use super::road::{Correspondent, Road, Said, said};
use crate::Desk;

/// The way of one agent's letters.
#[derive(Clone)]
pub struct Outlet {
    /// Of which kind it is.
    pub way: Way,
    /// What the agent is called there.
    pub called: String,
    /// What is asked.
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
    /// The way of an agent, if it is not the road.
    pub fn of(&self, party: Party) -> Option<&Outlet> {
        self.0.get(&party)
    }

    /// Which way letters to an agent go.
    pub(super) fn way_of(&self, party: Party) -> Way {
        self.of(party).map_or(Way::Road, |outlet| outlet.way)
    }
}

impl Outlet {
    /// The address by which the agent is asked for. Which terminal is typed into only the operator says.
    fn address(&self, session: Option<&str>) -> String {
        match session.filter(|_| self.way != Way::Tmux) {
            Some(session) => format!("{}@{session}", self.called),
            None => self.called.clone(),
        }
    }

    /// How it stands with the agent.
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
    /// Hands a payload over by another way.
    pub(super) async fn deliver_by(
        &self,
        outlet: &Outlet,
        (to, address): (&Correspondent, &str),
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

    /// Wakes an agent by another way. `None`: it is not due yet, and was kept.
    pub(super) async fn wake_by(
        &self,
        outlet: &Outlet,
        (to, address): (&Correspondent, &str),
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
        // It is due: a way need not wait.
        let opts = WakeOpts { meta, when: None, ..opts.clone() };
        outlet.wake(to.session.as_deref(), &opts).await.map(Some)
    }

    /// Has an agent called by another way, with nothing to tell it.
    pub(super) async fn rouse_by(
        &self,
        outlet: &Outlet,
        to: &Correspondent,
    ) -> Result<WakeReceipt, Cause> {
        outlet.wake(to.session.as_deref(), &WakeOpts::default()).await
    }

    /// What came of the same letter by this way before, if it went well.
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

/// The meta of a letter with the proven name of its sender.
fn proven(to: &Correspondent, meta: &Meta) -> Meta {
    let mut meta = meta.clone();
    meta.origin.caller_agent_id = Some(to.sender.clone());
    meta
}

/// Hands a letter over that is due, by its agent's way.
pub(super) async fn hand_over(
    desk: &Desk,
    outlet: &Outlet,
    (to, letter): (Party, LetterId),
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

/// A letter as it was written, out of the entry that is kept of it, and its session.
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
