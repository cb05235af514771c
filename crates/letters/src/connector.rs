//! The contract of every connector to agents.

use async_trait::async_trait;
use nightdesk_protocol::delivery::{
    AgentDescriptor, AgentStatus, ConnectorCapabilities, DeliveryReceipt, Payload,
    RequestResponseOpts, Response, WakeOpts, WakeReceipt,
};
use nightdesk_types::limits::CONNECTOR_WAIT;
use tokio::time::timeout;

use crate::error::{ConnectorError, FailureCause};

/// A connector that delivers payloads to agents (`AgentConnector` 1.0).
#[async_trait]
pub trait AgentConnector: Send + Sync {
    /// Returns the type and the features, which do not depend on the configuration.
    fn static_capabilities() -> ConnectorCapabilities
    where
        Self: Sized;

    /// Lists the agents that the connector reaches. The call is cheap and has no effect.
    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError>;

    /// Delivers a payload. A repeated [`dispatch_id`] is the same payload.
    ///
    /// [`dispatch_id`]: nightdesk_protocol::delivery::Meta::dispatch_id
    async fn deliver(
        &self,
        agent_id: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError>;

    /// Interrupts an agent with a context. A connector that cannot interrupt delivers the context like a payload and
    /// returns `woken: false`, which is no error. An unknown agent is an error, and so is a failure.
    async fn wake(&self, agent_id: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError>;

    /// Returns true if the connector is configured and reaches everything that it needs.
    async fn health_check(&self) -> bool;

    /// Delivers a payload and waits for the reply. A connector without replies returns `NotImplemented`.
    async fn request_response(
        &self,
        _agent_id: &str,
        _payload: &Payload,
        _opts: &RequestResponseOpts,
    ) -> Result<Response, ConnectorError> {
        Err(ConnectorError::NotImplemented("request_response"))
    }

    /// Returns the status of an agent, for display only.
    async fn agent_status(&self, _agent_id: &str) -> Result<AgentStatus, ConnectorError> {
        Ok(AgentStatus::Unknown)
    }
}

/// Waits for a call of a connector, at most [`CONNECTOR_WAIT`].
pub(crate) async fn call_in_time<T>(
    agent: &str,
    call: impl Future<Output = Result<T, ConnectorError>>,
) -> Result<T, ConnectorError> {
    timeout(CONNECTOR_WAIT, call)
        .await
        .unwrap_or_else(|_| Err(FailureCause::TimedOut.into_error(agent)))
}
