//! Authenticates a caller of the desk by one of two proofs that are never accepted for each other.
//!
//! The proof is a token of a trusted issuer for `agent:{id}`, or an upgrade token that a gateway's secret signed. The
//! format selects the check. Tenant and agent come from the stored record; the request body is not consulted.

use nightdesk_protocol::Bearer;
use nightdesk_types::{Actor, AgentId, TenantScope, Timestamp};

use super::Register;
use crate::caller::{Caller, CallerCheck, CallerProof};
use crate::error::RegisterError;
use crate::gateway::GatewayProof;
use crate::issuers::Issuers;

impl Register {
    /// Returns the caller that presents this credential. `None`: the desk knows no such caller.
    pub async fn caller(
        &self,
        issuers: &Issuers,
        shown: &Bearer<'_>,
        now: Timestamp,
    ) -> Result<Option<CallerCheck>, RegisterError> {
        match shown {
            Bearer::Jwt(token) => {
                let Some((scope, agent)) = issuers.agent_of(token, now).await? else {
                    return Ok(None);
                };
                let scope = scope.with_actor(Actor::Agent(agent));
                let known = CallerCheck::Known(Caller { scope, agent, proof: CallerProof::Token });
                Ok(self.has_agent(scope, agent).await?.then_some(known))
            }
            Bearer::Upgrade(token) => Ok(self.identify(token).await?.map(CallerCheck::from)),
        }
    }

    /// Returns the gateway as which the agent of a verified token dials, if the tenant has the agent.
    pub async fn gateway_of_token(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<GatewayProof>, RegisterError> {
        let scope = scope.with_actor(Actor::Agent(agent));
        if !self.has_agent(scope, agent).await? {
            return Ok(None);
        }
        Ok(self.store().gateway_for_tokens(scope, agent).await?)
    }

    /// Returns true if the tenant has this agent.
    async fn has_agent(&self, scope: TenantScope, agent: AgentId) -> Result<bool, RegisterError> {
        let called = self.store().agents_called(scope, &agent.to_string()).await?;
        Ok(called.iter().any(|named| named.id == agent))
    }
}
