//! A node's requests to other nodes, and to agents.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use nightdesk_api::{PeerError, PeerNodes, PeerRequest, PeerResponse};
use nightdesk_desk::posting::read_response;
use nightdesk_lease::Store as _;
use nightdesk_line::{AgentPost, AgentPoster, PostOutcome};
use nightdesk_office::{DataCustody, DoctorFinding, DoctorMode, NodeExaminer, OfficeError};
use nightdesk_types::limits::{TAKE_WAIT_MAX, TURN_MAX};
use nightdesk_types::{Incarnation, TenantId, TenantScope};
use tokio::time::timeout;

use crate::gateway;
use crate::http::{HttpPost, NoResponse, post};
use crate::store::SimStore;
use crate::world::World;

/// Custody without keys: no simulated program is an operator.
#[derive(Debug)]
pub(super) struct NoCustody;

impl NoCustody {
    fn refusal() -> OfficeError {
        OfficeError::Unavailable("a simulated node has no custody".to_owned())
    }
}

#[async_trait]
impl DataCustody for NoCustody {
    async fn rotate_keys(&self, _: TenantScope) -> Result<u64, OfficeError> {
        Err(Self::refusal())
    }

    async fn list_erasure(&self, _: TenantId) -> Result<(), OfficeError> {
        Err(Self::refusal())
    }

    async fn erase_tenant(&self, _: TenantScope) -> Result<u64, OfficeError> {
        Err(Self::refusal())
    }

    async fn begin_history(&self, _: TenantScope, _: &str) -> Result<Incarnation, OfficeError> {
        Err(Self::refusal())
    }
}

/// An examiner that sees nothing: no simulated program is an operator.
#[derive(Debug)]
pub(super) struct NoExaminer;

#[async_trait]
impl NodeExaminer for NoExaminer {
    fn node(&self) -> String {
        "simulated".to_owned()
    }

    async fn examine_node(&self, _: DoctorMode) -> Vec<DoctorFinding> {
        Vec::new()
    }
}

/// The other nodes of the cell.
pub(super) struct SimPeers {
    pub(super) store: Arc<SimStore>,
}

#[async_trait]
impl PeerNodes for SimPeers {
    async fn pass_on(&self, node: &str, request: PeerRequest) -> Result<PeerResponse, PeerError> {
        let lives = self.store.read_lives().await.map_err(|_| PeerError::Unreachable)?;
        if !lives.iter().any(|life| life.node.name == node) {
            return Err(PeerError::Gone);
        }
        let PeerRequest { path, authorization, body } = request;
        let mark = PeerRequest::MARK;
        let headers = [
            ("authorization", authorization.to_str().unwrap_or_default()),
            ("content-type", "application/json"),
            (mark.as_str(), "1"),
        ];
        let request = HttpPost { path, headers: &headers, body: &body };
        let Ok(Ok(response)) = timeout(2 * TAKE_WAIT_MAX, post(node, request)).await else {
            return Err(PeerError::Unreachable);
        };
        let status = StatusCode::from_u16(response.status).map_err(|_| PeerError::Unreachable)?;
        let kind = if response.is_json { "application/json" } else { "text/plain" };
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        Ok(PeerResponse { status, headers, body: response.body })
    }
}

/// Posts to the gateways' hosts.
pub(super) struct SimPoster {
    pub(super) world: Arc<World>,
}

#[async_trait]
impl AgentPoster for SimPoster {
    async fn post(&self, entry: AgentPost) -> PostOutcome {
        let AgentPost { agent, id, body, .. } = entry;
        let Some(agent) = self.world.cast.agents.iter().find(|one| one.id == agent) else {
            return PostOutcome::Unreachable("no such agent".to_owned());
        };
        let headers = [("webhook-id", id.as_str())];
        let request = HttpPost { path: "/", headers: &headers, body: body.as_bytes() };
        match timeout(TURN_MAX, post(&gateway::host(agent), request)).await {
            Ok(Ok(response)) => read_response(&response),
            Ok(Err(NoResponse::Unreachable)) => {
                PostOutcome::Unreachable("no connection".to_owned())
            }
            Ok(Err(NoResponse::BrokeOff)) => PostOutcome::Failed("it broke off".to_owned()),
            Err(_) => PostOutcome::Failed("it took too long".to_owned()),
        }
    }
}
