//! Ways of letters that do not go through the inbox, because the operator configured another connector for an agent.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use nightdesk_protocol::delivery::{AgentStatus, DeliveryReceipt, Payload, WakeOpts, WakeReceipt};
use nightdesk_types::limits::CONNECTOR_WAIT;
use tokio::time::timeout;

use crate::connector::{AgentConnector, call_in_time};
use crate::delivery_method::DeliveryMethod;
use crate::error::{ConnectorError, FailureCause};
use crate::letter::Party;

/// The way of one agent's letters.
#[derive(Clone)]
pub struct Outlet {
    /// The kind of way.
    pub method: DeliveryMethod,
    /// The agent's name there.
    pub name: String,
    /// The connector.
    pub connector: Arc<dyn AgentConnector>,
}

/// The configured ways of all agents that have any. The letters of all others go through their inboxes alone.
#[derive(Clone, Debug, Default)]
pub struct Outlets(BTreeMap<Party, AgentWays>);

/// The ways of one agent's letters.
#[derive(Clone, Debug, Default)]
struct AgentWays {
    /// True if its letters go through its inbox too, which then is its first way.
    has_inbox: bool,
    outlets: Vec<Outlet>,
}

/// One configured way of an agent.
#[derive(Clone, Debug)]
pub enum ConfiguredWay {
    /// Its inbox.
    Inbox,
    /// Another connector.
    Outlet(Outlet),
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outlet({} {})", self.method.slug(), self.name)
    }
}

impl FromIterator<(Party, ConfiguredWay)> for Outlets {
    fn from_iter<T: IntoIterator<Item = (Party, ConfiguredWay)>>(ways: T) -> Self {
        let mut outlets = Self::default();
        for (party, way) in ways {
            let agent = outlets.0.entry(party).or_default();
            match way {
                ConfiguredWay::Inbox => agent.has_inbox = true,
                ConfiguredWay::Outlet(outlet) => agent.outlets.push(outlet),
            }
        }
        outlets
    }
}

impl Outlets {
    /// Returns the outlet of a letter that goes one way: the agent's first. `None`: it goes through the inbox.
    pub(crate) fn outlet(&self, party: Party) -> Option<&Outlet> {
        self.0.get(&party).filter(|ways| !ways.has_inbox).and_then(|ways| ways.outlets.first())
    }

    /// Returns all ways of an agent, the inbox first. `None` is the inbox.
    ///
    /// In this order a letter that goes several ways is in the inbox if any part of it says so: the row of a letter that
    /// was noted for an outlet is never put there.
    pub(crate) fn all_ways(&self, party: Party) -> Vec<Option<&Outlet>> {
        let Some(ways) = self.0.get(&party) else { return vec![None] };
        let inbox = (ways.has_inbox || ways.outlets.is_empty()).then_some(None);
        inbox.into_iter().chain(ways.outlets.iter().map(Some)).collect()
    }

    /// Returns the way of letters to an agent.
    pub(crate) fn method_for(&self, party: Party) -> DeliveryMethod {
        method_of(self.outlet(party))
    }
}

/// Returns the kind of a way. `None` is the inbox.
pub(crate) fn method_of(outlet: Option<&Outlet>) -> DeliveryMethod {
    outlet.map_or(DeliveryMethod::Road, |outlet| outlet.method)
}

impl Outlet {
    /// Returns the session that the connector may choose. Only the operator decides which terminal is typed into.
    fn allowed_session<'a>(&self, session: Option<&'a str>) -> Option<&'a str> {
        session.filter(|_| self.method != DeliveryMethod::Tmux)
    }

    /// Returns the agent's address for the connector.
    fn address(&self, session: Option<&str>) -> String {
        match self.allowed_session(session) {
            Some(session) => format!("{}@{session}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the status of the agent.
    pub(crate) async fn status(&self) -> AgentStatus {
        let status = timeout(CONNECTOR_WAIT, self.connector.agent_status(&self.name)).await;
        status.ok().and_then(Result::ok).unwrap_or_default()
    }

    pub(crate) async fn deliver(
        &self,
        session: Option<&str>,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, FailureCause> {
        let address = self.address(session);
        let delivered = call_in_time(&address, self.connector.deliver(&address, payload)).await;
        delivered.map_err(into_cause)
    }

    pub(crate) async fn wake(
        &self,
        session: Option<&str>,
        opts: &WakeOpts,
    ) -> Result<WakeReceipt, FailureCause> {
        let address = self.address(session);
        let session_id = self.allowed_session(session).map(str::to_owned);
        let opts = WakeOpts { session_id, ..opts.clone() };
        call_in_time(&address, self.connector.wake(&address, &opts)).await.map_err(into_cause)
    }
}

fn into_cause(error: ConnectorError) -> FailureCause {
    match error {
        ConnectorError::DeliveryFailed { cause, .. } => cause,
        ConnectorError::NotImplemented(what) => {
            FailureCause::Invalid(format!("{what} is not supported"))
        }
        ConnectorError::Timeout { .. } => FailureCause::TimedOut,
    }
}
