//! The letters of one sender, with their counters and receipts.

mod order;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_protocol::delivery::{
    AgentDescriptor, ConnectorCapabilities, DeliveryReceipt, Millis, Payload, Response,
    TriggerKind, WakeOpts, WakeReceipt,
};
use nightdesk_protocol::http::letters::ReachableAgent;
use nightdesk_types::{LetterId, StopOutcome, StoreError};

use crate::backend::LetterTurn;
use crate::by_inbox;
use crate::connector::AgentConnector;
use crate::context::{Correspondent, store_failure};
use crate::delivery_method::DeliveryMethod;
use crate::desk_connector::{DeskConnector, descriptor, line_status};
use crate::dispatch::{DispatchReport, Dispatcher, NotifyRequest};
use crate::entry::source_of_letter;
use crate::error::{ConnectorError, FailureCause};
use crate::letter::{Grant, Letter, Party, Route};
use crate::letters::Letters;
use crate::outlet::{Outlet, method_of};
use crate::receipt::{DeliveryOutcome, DeliveryRecord, Receipt};
use crate::skill_run::SkillRun;

pub use order::LetterOrder;

/// The letters of one sender. The sender is the authenticated caller, never a field of a body.
#[derive(Clone, Debug)]
pub struct LetterSender(DeskConnector);

impl LetterSender {
    /// Creates the letters of the sender that a connector is for.
    pub const fn new(connector: DeskConnector) -> Self {
        Self(connector)
    }

    /// Returns the sender.
    pub const fn from(&self) -> Party {
        self.0.context.from
    }

    /// Returns the current time.
    pub fn now(&self) -> Millis {
        self.letters().now()
    }

    fn letters(&self) -> &Letters {
        &self.0.context.letters
    }

    /// Returns the agents that the sender can write to, with their status and live sessions: its tenant's own agents, and agents of other
    /// tenants if both sides granted it.
    pub async fn list_reachable(&self) -> Result<Vec<ReachableAgent>, ConnectorError> {
        let peers = self.0.peers().await?;
        let mut reachable = Vec::with_capacity(peers.len());
        for peer in peers {
            let status = match self.0.outlet(peer.party) {
                Some(outlet) => outlet.status().await,
                None => line_status(peer.live.as_ref()),
            };
            let live = peer.live.as_ref();
            let sessions = live.map(|live| live.sessions.to_vec()).unwrap_or_default();
            reachable.push(ReachableAgent { agent: descriptor(peer), status, sessions });
        }
        Ok(reachable)
    }

    /// Sends a letter as its address says: with an `@` it wakes the agent, otherwise it is only delivered. It goes every
    /// way of the agent that the request names, as one dispatch. An address that names no agent is no error: the letter
    /// then has no record.
    pub async fn notify(&self, notify: &NotifyRequest) -> Result<DispatchReport, ConnectorError> {
        let letters = Arc::<Letters>::clone(&self.0.context.letters);
        let clock = Arc::clone(&letters.clock);
        let mut dispatcher = Dispatcher::new(letters, clock);
        let to = match self.0.find_recipient(&notify.address, None).await {
            Ok(to) => to,
            Err(error) => return self.report_unaddressed(&dispatcher, notify, error),
        };
        let run = SkillRun::new(self.from().scope, TriggerKind::Agent, Some(to.sender.clone()));
        let address = to.canonical_address();
        let metrics = &self.letters().metrics;
        let mut methods = Vec::new();
        for way in self.letters().outlets.all_ways(to.party) {
            let method = method_of(way);
            if !notify.selects(method.slug()) {
                continue;
            }
            metrics.count_letter(method);
            let (address, is_counted) = (address.clone(), !methods.is_empty());
            let to = Correspondent { address, is_counted, ..to.clone() };
            let connector = RecipientConnector { connector: self.0.clone(), way: way.cloned(), to };
            // The desk's connector is always healthy.
            drop(dispatcher.add_connector(method.slug(), Arc::new(connector)).await);
            methods.push(method);
        }
        let report = dispatcher.notify(&run, &NotifyRequest { address, ..notify.clone() }).await;
        for record in &report.records {
            let method = methods.iter().find(|method| method.slug() == record.connector);
            metrics.count_outcome(method.copied().unwrap_or(DeliveryMethod::Road), &record.outcome);
        }
        Ok(report)
    }

    /// Returns the result of a letter whose recipient was not found.
    fn report_unaddressed(
        &self,
        dispatcher: &Dispatcher,
        notify: &NotifyRequest,
        error: ConnectorError,
    ) -> Result<DispatchReport, ConnectorError> {
        let metrics = &self.letters().metrics;
        metrics.count_letter(DeliveryMethod::Road);
        if let ConnectorError::DeliveryFailed { cause: FailureCause::UnknownAgent, .. } = error {
            return Ok(dispatcher.report_unreachable(notify));
        }
        let outcome = DeliveryOutcome::Failed(error.clone().into());
        metrics.count_outcome(DeliveryMethod::Road, &outcome);
        Err(error)
    }

    /// Delivers a payload, regardless of the form of its address.
    pub async fn deliver(
        &self,
        address: &str,
        payload: &Payload,
    ) -> Result<(DeliveryMethod, DeliveryReceipt), ConnectorError> {
        let (way, to) = self.find_and_count(address, None).await;
        let receipt = match to {
            Ok(to) => self.0.deliver_to(&to, payload).await,
            Err(error) => Err(error),
        };
        let outcome = receipt.clone().map(DeliveryOutcome::Delivered);
        self.store_receipt(way, Route::Deliver, address, &payload.meta().dispatch_id, outcome)
            .await;
        receipt.map(|receipt| (way, receipt))
    }

    /// Wakes an agent with a payload, now or later.
    pub async fn wake(
        &self,
        address: &str,
        opts: &WakeOpts,
    ) -> Result<(DeliveryMethod, WakeReceipt), ConnectorError> {
        let (way, to) = self.find_and_count(address, opts.session_id.as_deref()).await;
        let receipt = match to {
            Ok(to) if opts.interrupt => self.interrupt_and_wake(&to, opts).await,
            Ok(to) => self.0.wake_to(&to, opts).await,
            Err(error) => Err(error),
        };
        if let Some(meta) = &opts.meta {
            let outcome = receipt.clone().map(DeliveryOutcome::Woken);
            self.store_receipt(way, Route::Wake, address, &meta.dispatch_id, outcome).await;
        }
        receipt.map(|receipt| (way, receipt))
    }

    /// Stops the recipient's turn on the sender's newest letter to it, and then wakes it.
    async fn interrupt_and_wake(
        &self,
        to: &Correspondent,
        opts: &WakeOpts,
    ) -> Result<WakeReceipt, ConnectorError> {
        let newest = self.newest_letter_to(to).await;
        let newest = newest.map_err(|error| store_failure(error).into_error(&to.address))?;
        let outcome = match newest {
            Some(letter) => self.stop_turn(to.party, letter).await,
            None => Ok(StopOutcome::NotRunning),
        };
        let outcome = outcome.map_err(|error| store_failure(error).into_error(&to.address))?;
        let mut receipt = self.0.wake_to(to, opts).await?;
        if outcome != StopOutcome::Stopped {
            receipt.warnings.push(format!("the turn on the letter before: {}", outcome.slug()));
        }
        Ok(receipt)
    }

    /// Stops the recipient's turn on a letter of the sender. `None`: the agent sent no such letter, or may no longer
    /// write to its recipient.
    pub async fn stop(&self, letter: LetterId) -> Result<Option<StopOutcome>, ConnectorError> {
        let failed = |error| store_failure(error).into_error("");
        let Some(found) = self.show(letter).await.map_err(failed)? else { return Ok(None) };
        let to = match self.0.find_recipient(&found.to.to_string(), None).await {
            Ok(to) => to,
            Err(ConnectorError::DeliveryFailed {
                cause: FailureCause::UnknownAgent | FailureCause::Refused(_),
                ..
            }) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.stop_turn(to.party, letter).await.map(Some).map_err(failed)
    }

    async fn stop_turn(&self, to: Party, letter: LetterId) -> Result<StopOutcome, StoreError> {
        let source = source_of_letter(letter, self.from().agent);
        self.0.context.backend.stop_turn(LetterTurn { agent: to, source }).await
    }

    /// Returns the sender's newest letter to a recipient that is in its inbox, among the newest page of letters.
    async fn newest_letter_to(&self, to: &Correspondent) -> Result<Option<LetterId>, StoreError> {
        let letters = self.list(None).await?;
        let is_put = |letter: &&Letter| letter.to == to.party.agent && letter.seq.is_some();
        Ok(letters.iter().find(is_put).map(|letter| letter.id))
    }

    /// Calls an agent without a payload, so that it reads its inbox.
    pub async fn call_agent(
        &self,
        address: &str,
        session: Option<&str>,
    ) -> Result<WakeReceipt, ConnectorError> {
        let to = self.0.find_recipient(address, session).await?;
        let receipt = match self.0.outlet(to.party) {
            Some(outlet) => outlet.wake(to.session.as_deref(), &WakeOpts::default()).await,
            None => by_inbox::call_agent(&self.0.context, &to).await,
        };
        receipt.map_err(|cause| cause.into_error(address))
    }

    /// Delivers a payload and waits for the reply until the timeout.
    pub async fn exchange(
        &self,
        address: &str,
        payload: &Payload,
        wait: Duration,
    ) -> Result<Response, ConnectorError> {
        let timeout_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let (way, to) = self.find_and_count(address, None).await;
        let response = match to {
            Ok(to) => self.0.exchange_with(&to, payload, timeout_ms).await,
            Err(error) => Err(error),
        };
        self.letters().metrics.count_exchange(way, &response);
        response
    }

    /// Returns a letter of the sender with its state.
    pub async fn show(&self, letter: LetterId) -> Result<Option<Letter>, StoreError> {
        self.letters().store.letter(self.from(), letter).await
    }

    /// Returns the sender's letters, newest first, at most one page.
    pub async fn list(&self, before: Option<LetterId>) -> Result<Vec<Letter>, StoreError> {
        self.letters().store.letters(self.from(), before).await
    }

    /// Returns the receipts of an emit, one for each way that it took.
    pub async fn receipts(&self, dispatch_id: &str) -> Result<Vec<DeliveryRecord>, StoreError> {
        self.letters().store.read_receipts(self.from().scope, dispatch_id).await
    }

    /// Returns the grants that the sender's tenant gave to agents of other tenants, for this agent.
    pub async fn grants(&self) -> Result<Vec<Grant>, StoreError> {
        let Party { scope, agent } = self.from();
        self.letters().store.grants(scope, Some(agent), usize::MAX).await
    }

    /// Looks a recipient up, once for the whole letter, and counts the letter by the way that it goes.
    async fn find_and_count(
        &self,
        address: &str,
        session: Option<&str>,
    ) -> (DeliveryMethod, Result<Correspondent, ConnectorError>) {
        let Letters { outlets: ways, metrics, .. } = self.letters();
        let to = self.0.find_recipient(address, session).await;
        let way = to.as_ref().map_or(DeliveryMethod::Road, |to| ways.method_for(to.party));
        metrics.count_letter(way);
        (way, to)
    }

    /// Counts the result of a letter by its way, and stores its receipt.
    async fn store_receipt(
        &self,
        way: DeliveryMethod,
        route: Route,
        address: &str,
        dispatch_id: &str,
        outcome: Result<DeliveryOutcome, ConnectorError>,
    ) {
        let record = DeliveryRecord {
            dispatch_id: dispatch_id.to_owned(),
            connector: way.slug().to_owned(),
            address: address.to_owned(),
            route,
            outcome: outcome.unwrap_or_else(|error| DeliveryOutcome::Failed(error.into())),
        };
        self.letters().metrics.count_outcome(way, &record.outcome);
        let receipt = Receipt { scope: self.from().scope, record };
        if let Err(error) = self.letters().writer.store_receipt(receipt).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the receipt of a letter could not be stored");
        }
    }
}

/// One way of the desk's connector to the recipient that was looked up.
struct RecipientConnector {
    connector: DeskConnector,
    /// `None`: through the inbox.
    way: Option<Outlet>,
    to: Correspondent,
}

#[async_trait]
impl AgentConnector for RecipientConnector {
    fn static_capabilities() -> ConnectorCapabilities {
        DeskConnector::static_capabilities()
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        let agent_id = self.to.name.clone();
        Ok(vec![AgentDescriptor { agent_id, ..AgentDescriptor::default() }])
    }

    async fn deliver(
        &self,
        _address: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        self.connector.deliver_by(self.way.as_ref(), &self.to, payload).await
    }

    async fn wake(&self, _address: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        self.connector.wake_by(self.way.as_ref(), &self.to, opts).await
    }

    async fn health_check(&self) -> bool {
        true
    }
}
