//! The desk's own connector: each letter takes the way of its recipient, the inbox or an outlet.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_protocol::delivery::{
    AgentAbility, AgentDescriptor, AgentStatus, ConnectorCapabilities, DeliveryReceipt, Features,
    Payload, RequestResponseOpts, Response, WakeOpts, WakeReceipt,
};
use nightdesk_types::limits::AGENTS_PAGE_MAX;

use crate::backend::LetterBackend;
use crate::connector::AgentConnector;
use crate::context::{Correspondent, SenderContext, store_failure};
use crate::error::ConnectorError;
use crate::ids::new_id;
use crate::letter::{Party, Peer, PeerLine};
use crate::letters::Letters;
use crate::outlet::Outlet;
use crate::put::LetterDraft;
use crate::reply::response_from;
use crate::{by_inbox, by_outlet};

/// The desk's connector, for one sender.
#[derive(Clone, Debug)]
pub struct DeskConnector {
    pub(crate) context: SenderContext,
}

impl DeskConnector {
    /// Creates the connector of an agent, for a caller that acts for it.
    pub fn new(letters: &Arc<Letters>, backend: Arc<dyn LetterBackend>, from: Party) -> Self {
        Self { context: SenderContext { letters: Arc::clone(letters), backend, from } }
    }

    pub(crate) async fn peers(&self) -> Result<Vec<Peer>, ConnectorError> {
        let SenderContext { letters, from, .. } = &self.context;
        let peers = letters.store.peers(*from, AGENTS_PAGE_MAX).await;
        peers.map_err(|error| store_failure(error).into_error(""))
    }

    pub(crate) async fn find_recipient(
        &self,
        address: &str,
        session: Option<&str>,
    ) -> Result<Correspondent, ConnectorError> {
        self.context
            .find_recipient(address, session)
            .await
            .map_err(|cause| cause.into_error(address))
    }

    pub(crate) fn outlet(&self, party: Party) -> Option<&Outlet> {
        self.context.letters.outlets.outlet(party)
    }

    /// Delivers a payload to a recipient that was looked up.
    pub(crate) async fn deliver_to(
        &self,
        to: &Correspondent,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        self.deliver_by(self.outlet(to.party), to, payload).await
    }

    /// Delivers a payload one of its recipient's ways.
    pub(crate) async fn deliver_by(
        &self,
        outlet: Option<&Outlet>,
        to: &Correspondent,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        let receipt = match outlet {
            Some(outlet) => by_outlet::deliver(&self.context, outlet, to, payload).await,
            None => by_inbox::deliver(&self.context, to, payload).await,
        };
        receipt.map_err(|cause| cause.into_error(&to.address))
    }

    /// Wakes a recipient that was looked up.
    pub(crate) async fn wake_to(
        &self,
        to: &Correspondent,
        opts: &WakeOpts,
    ) -> Result<WakeReceipt, ConnectorError> {
        self.wake_by(self.outlet(to.party), to, opts).await
    }

    /// Wakes a recipient one of its ways.
    pub(crate) async fn wake_by(
        &self,
        outlet: Option<&Outlet>,
        to: &Correspondent,
        opts: &WakeOpts,
    ) -> Result<WakeReceipt, ConnectorError> {
        let fresh_id = new_id();
        let draft = LetterDraft::from_wake(opts, &fresh_id, self.context.letters.now());
        let draft = LetterDraft { by_outlet: outlet.is_some(), ..draft };
        let receipt = match outlet {
            Some(outlet) => by_outlet::wake(&self.context, outlet, to, &draft, opts).await,
            None => by_inbox::wake(&self.context, to, &draft).await,
        };
        receipt.map_err(|cause| cause.into_error(&to.address))
    }

    /// Delivers a payload to a recipient that was looked up, and waits for the reply.
    pub(crate) async fn exchange_with(
        &self,
        to: &Correspondent,
        payload: &Payload,
        timeout_ms: u64,
    ) -> Result<Response, ConnectorError> {
        if self.outlet(to.party).is_some() {
            return Err(ConnectorError::NotImplemented("request_response"));
        }
        let wait = Duration::from_millis(timeout_ms);
        let letter = by_inbox::exchange(&self.context, to, payload, wait).await;
        response_from(letter.map_err(|cause| cause.into_error(&to.address))?, &to.name, timeout_ms)
    }
}

#[async_trait]
impl AgentConnector for DeskConnector {
    fn static_capabilities() -> ConnectorCapabilities {
        let yes = Some(true);
        let features = Features {
            deliver: yes,
            wake: yes,
            list_agents: yes,
            agent_status: yes,
            health_check: yes,
            request_response: yes,
        };
        ConnectorCapabilities::new("nightdesk", features)
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        Ok(self.peers().await?.into_iter().map(descriptor).collect())
    }

    async fn deliver(
        &self,
        agent_id: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        let to = self.find_recipient(agent_id, None).await?;
        self.deliver_to(&to, payload).await
    }

    async fn wake(&self, agent_id: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        let to = self.find_recipient(agent_id, opts.session_id.as_deref()).await?;
        self.wake_to(&to, opts).await
    }

    async fn health_check(&self) -> bool {
        true
    }

    async fn request_response(
        &self,
        agent_id: &str,
        payload: &Payload,
        opts: &RequestResponseOpts,
    ) -> Result<Response, ConnectorError> {
        let to = self.find_recipient(agent_id, None).await?;
        self.exchange_with(&to, payload, opts.timeout_ms).await
    }

    async fn agent_status(&self, agent_id: &str) -> Result<AgentStatus, ConnectorError> {
        let to = self.find_recipient(agent_id, None).await?;
        if let Some(outlet) = self.outlet(to.party) {
            return Ok(outlet.status().await);
        }
        let live = self.context.letters.store.find_line(to.party).await;
        Ok(line_status(live.map_err(|error| store_failure(error).into_error(agent_id))?.as_ref()))
    }
}

/// Returns the status of an agent by its line.
pub(crate) const fn line_status(live: Option<&PeerLine>) -> AgentStatus {
    match live {
        Some(PeerLine { is_busy: true, .. }) => AgentStatus::Active,
        Some(_) => AgentStatus::Idle,
        None => AgentStatus::Asleep,
    }
}

pub(crate) fn descriptor(peer: Peer) -> AgentDescriptor {
    let agent_id = peer.name.unwrap_or_else(|| peer.party.agent.to_string());
    let can = vec![
        AgentAbility::Deliver,
        AgentAbility::Wake,
        AgentAbility::Augment,
        AgentAbility::Template,
    ];
    AgentDescriptor { agent_name: None, agent_id, capabilities: Some(can) }
}
