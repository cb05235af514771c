//! Sends a letter through every connector that reaches its agent.

use std::sync::Arc;

use nightdesk_protocol::delivery::{DeliveryOrigin, Meta, Millis, PayloadKind, WakeOpts};
use nightdesk_types::Clock;
use nightdesk_types::limits::CONNECTOR_WAIT;
use tokio::time::timeout;

use crate::address::Address;
use crate::connector::{AgentConnector, call_in_time};
use crate::error::ConnectorError;
use crate::ids::{millis, new_id};
use crate::letter::Route;
use crate::receipt::{DeliveryOutcome, DeliveryRecord, Receipt};
use crate::skill_run::SkillRun;
use crate::store::Receipts;

/// An author's request for one letter.
#[derive(Clone, Debug, Default)]
pub struct NotifyRequest {
    /// The id that makes a repeated request recognisable. `None`: each request gets a new id.
    pub dispatch_id: Option<String>,
    /// The recipient. An address with an `@` wakes the agent; without one the letter is delivered.
    pub address: String,
    /// The text.
    pub words: String,
    /// Information, or a task to do.
    pub kind: PayloadKind,
    /// A label, which overrides that of the skill.
    pub event_type: Option<String>,
    /// The id by which the sender matches a reply.
    pub correlation_id: Option<String>,
    /// The sending skill, its trigger and its first caller. Without a skill, the caller is that of the run.
    pub origin: Option<DeliveryOrigin>,
    /// The names of the connectors to use. `None`: all of them.
    pub connectors: Option<Vec<String>>,
}

impl NotifyRequest {
    /// Returns true if the letter goes through a connector of this name.
    pub(crate) fn selects(&self, connector: &str) -> bool {
        self.connectors.as_ref().is_none_or(|names| names.iter().any(|name| name == connector))
    }
}

/// The result of one request: one dispatch through every connector that reaches its agent.
#[derive(Clone, Debug)]
pub struct DispatchReport {
    /// The recipient.
    pub address: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// The time of sending.
    pub sent_at: Millis,
    /// The result of each connector. Empty: no connector reaches that agent.
    pub records: Vec<DeliveryRecord>,
}

/// The error for a connector that fails its health check, and is not added.
#[derive(Debug, thiserror::Error)]
#[error("connector {0} is not healthy; check that its program, folder or URL is available")]
pub struct UnhealthyConnector(pub String);

/// Calls connectors one after the other, in the order in which they were added.
pub struct Dispatcher {
    connectors: Vec<(String, Arc<dyn AgentConnector>)>,
    receipts: Arc<dyn Receipts>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.connectors.iter().map(|(name, _)| name).collect();
        f.debug_struct("Dispatcher").field("connectors", &names).finish_non_exhaustive()
    }
}

impl Dispatcher {
    /// Creates a dispatcher without connectors.
    pub fn new(receipts: Arc<dyn Receipts>, clock: Arc<dyn Clock>) -> Self {
        Self { connectors: Vec::new(), receipts, clock }
    }

    /// Adds a connector, if it is healthy.
    pub async fn add_connector(
        &mut self,
        name: &str,
        connector: Arc<dyn AgentConnector>,
    ) -> Result<(), UnhealthyConnector> {
        let healthy = timeout(CONNECTOR_WAIT, connector.health_check()).await;
        if !healthy.unwrap_or(false) {
            return Err(UnhealthyConnector(name.to_owned()));
        }
        self.connectors.push((name.to_owned(), connector));
        Ok(())
    }

    /// Sends a letter through every connector that reaches its agent. A failure is recorded, and the others go on.
    pub async fn notify(&self, run: &SkillRun, notify: &NotifyRequest) -> DispatchReport {
        let sent_at = millis(&*self.clock);
        let dispatch_id = notify.dispatch_id.clone().unwrap_or_else(new_id);
        let NotifyRequest { event_type, correlation_id, .. } = notify;
        let run =
            notify.origin.as_ref().map_or_else(|| run.clone(), |origin| run.with_origin(origin));
        let (event_type, correlation_id) = (event_type.as_deref(), correlation_id.as_deref());
        let meta = run.meta(dispatch_id.clone(), sent_at, event_type, correlation_id);
        let address = Address::parse(&notify.address);
        let mut records = Vec::new();
        for (name, connector) in &self.connectors {
            if !notify.selects(name) || !reaches(&**connector, &address).await {
                continue;
            }
            let (route, outcome) = call_connector(&**connector, notify, &meta).await;
            let (dispatch_id, connector) = (dispatch_id.clone(), name.clone());
            let record = DeliveryRecord {
                dispatch_id,
                connector,
                address: notify.address.clone(),
                route,
                outcome,
            };
            self.store_receipt(&run, &record).await;
            records.push(record);
        }
        DispatchReport { address: notify.address.clone(), dispatch_id, sent_at, records }
    }

    /// Returns the result of a letter whose address names no agent. It has no record.
    pub fn report_unreachable(&self, notify: &NotifyRequest) -> DispatchReport {
        DispatchReport {
            address: notify.address.clone(),
            dispatch_id: notify.dispatch_id.clone().unwrap_or_else(new_id),
            sent_at: millis(&*self.clock),
            records: Vec::new(),
        }
    }

    async fn store_receipt(&self, run: &SkillRun, record: &DeliveryRecord) {
        let receipt = Receipt { scope: run.scope(), record: record.clone() };
        if let Err(error) = self.receipts.store_receipts(&[receipt]).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the receipt of a letter could not be stored");
        }
    }
}

/// Returns true if a connector knows the agent. A connector that cannot list its agents is skipped.
async fn reaches(connector: &dyn AgentConnector, address: &Address<'_>) -> bool {
    let Ok(Ok(agents)) = timeout(CONNECTOR_WAIT, connector.list_agents()).await else {
        return false;
    };
    address.find_known_name(|name| agents.iter().any(|agent| agent.agent_id == name)).is_some()
}

/// Calls one connector. The address decides between wake and delivery.
async fn call_connector(
    connector: &dyn AgentConnector,
    notify: &NotifyRequest,
    meta: &Meta,
) -> (Route, DeliveryOutcome) {
    let (agent, words) = (notify.address.as_str(), notify.words.clone());
    if !Address::parse(agent).wakes() {
        let payload = notify.kind.make_payload(words, meta.clone());
        let delivered = call_in_time(agent, connector.deliver(agent, &payload)).await;
        return (Route::Deliver, delivered.map_or_else(failed_outcome, DeliveryOutcome::Delivered));
    }
    let context = Some(words).filter(|words| !words.is_empty());
    let opts = WakeOpts { context, meta: Some(Box::new(meta.clone())), ..WakeOpts::default() };
    let woken = call_in_time(agent, connector.wake(agent, &opts)).await;
    (Route::Wake, woken.map_or_else(failed_outcome, DeliveryOutcome::Woken))
}

fn failed_outcome(error: ConnectorError) -> DeliveryOutcome {
    DeliveryOutcome::Failed(error.into())
}
