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

/// The ways of all agents whose letters do not go through their inboxes.
#[derive(Clone, Debug, Default)]
pub struct Outlets(BTreeMap<Party, Outlet>);

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outlet({} {})", self.method.slug(), self.name)
    }
}

impl FromIterator<(Party, Outlet)> for Outlets {
    fn from_iter<T: IntoIterator<Item = (Party, Outlet)>>(ways: T) -> Self {
        Self(ways.into_iter().collect())
    }
}

impl Outlets {
    /// Returns the outlet of an agent. `None`: its letters go through its inbox.
    pub(crate) fn outlet(&self, party: Party) -> Option<&Outlet> {
        self.0.get(&party)
    }

    /// Returns the way of letters to an agent.
    pub(crate) fn method_for(&self, party: Party) -> DeliveryMethod {
        self.outlet(party).map_or(DeliveryMethod::Road, |outlet| outlet.method)
    }
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
