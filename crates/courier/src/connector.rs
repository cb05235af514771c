//! Connector: the contract that every way to an agent keeps.

use async_trait::async_trait;
use nightdesk_protocol::delivery::{
    AgentDescriptor, AgentStatus, Capabilities, DeliveryReceipt, Payload, RequestResponseOpts,
    Response, WakeOpts, WakeReceipt,
};

use crate::error::ConnectorError;

/// A way to hand something to agents (`AgentConnector` 1.0).
#[async_trait]
pub trait AgentConnector: Send + Sync {
    /// What it is and can do, whatever it is set up with.
    fn static_capabilities() -> Capabilities
    where
        Self: Sized;

    /// Whom it reaches. Cheap, and nothing comes of asking.
    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError>;

    /// Hands a payload over. The same [`dispatch_id`] twice is one payload.
    ///
    /// [`dispatch_id`]: nightdesk_protocol::delivery::Meta::dispatch_id
    async fn deliver(
        &self,
        agent_id: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError>;

    /// Interrupts an agent with what is to be told. What cannot interrupt hands it over like a payload and says
    /// that nobody was woken: that is no error. An agent that is not known is one, and so is whatever broke.
    async fn wake(&self, agent_id: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError>;

    /// Whether it is set up and what it needs can be reached.
    async fn health_check(&self) -> bool;

    /// Hands a payload over and waits for the reply to it. A way that hears no replies says so.
    async fn request_response(
        &self,
        _agent_id: &str,
        _payload: &Payload,
        _opts: &RequestResponseOpts,
    ) -> Result<Response, ConnectorError> {
        Err(ConnectorError::NotImplemented("request_response"))
    }

    /// How it stands with an agent. Nothing depends on it.
    async fn agent_status(&self, _agent_id: &str) -> Result<AgentStatus, ConnectorError> {
        Ok(AgentStatus::Unknown)
    }
}
