//! A connector that reaches no agent and reports that.

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_protocol::delivery::{
    AgentDescriptor, ConnectorCapabilities, DeliveryReceipt, Features, Payload, WakeOpts,
    WakeReceipt,
};
use nightdesk_types::Clock;

use crate::connector::AgentConnector;
use crate::error::ConnectorError;
use crate::ids::millis;

/// Accepts everything and delivers nothing, for desks without own agents.
pub struct NoOp(Arc<dyn Clock>);

impl NoOp {
    /// Creates the connector with this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(clock)
    }
}

impl std::fmt::Debug for NoOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NoOp")
    }
}

#[async_trait]
impl AgentConnector for NoOp {
    fn static_capabilities() -> ConnectorCapabilities {
        let (no, yes) = (Some(false), Some(true));
        let features = Features {
            deliver: no,
            wake: no,
            list_agents: yes,
            agent_status: no,
            health_check: yes,
            request_response: no,
        };
        ConnectorCapabilities::new("noop", features)
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        Ok(Vec::new())
    }

    async fn deliver(&self, _: &str, _: &Payload) -> Result<DeliveryReceipt, ConnectorError> {
        let delivered_at = millis(&*self.0);
        Ok(DeliveryReceipt { delivered_at, delivery_skipped: true, ..DeliveryReceipt::default() })
    }

    async fn wake(&self, _: &str, _: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        Ok(WakeReceipt { woken_at: millis(&*self.0), ..WakeReceipt::default() })
    }

    async fn health_check(&self) -> bool {
        true
    }
}
