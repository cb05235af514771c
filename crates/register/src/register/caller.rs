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

    /// Returns the gateway that dials. A token has no gateway, so it dials as the gateway that its agent has for
    /// tokens.
    pub async fn identify_dial(
        &self,
        issuers: &Issuers,
        shown: &Bearer<'_>,
        now: Timestamp,
    ) -> Result<Option<GatewayProof>, RegisterError> {
        match self.caller(issuers, shown, now).await? {
            Some(CallerCheck::Known(Caller { scope, agent, proof: CallerProof::Token })) => {
                Ok(self.store().gateway_for_tokens(scope, agent).await?)
            }
            Some(CallerCheck::Known(Caller { proof: CallerProof::Gateway(gateway), .. })) => {
                Ok(Some(GatewayProof::Valid(gateway)))
            }
            Some(CallerCheck::Revoked(gateway)) => Ok(Some(GatewayProof::Revoked(gateway))),
            None => Ok(None),
        }
    }

    /// Returns true if the tenant has this agent.
    async fn has_agent(&self, scope: TenantScope, agent: AgentId) -> Result<bool, RegisterError> {
        let called = self.store().agents_called(scope, &agent.to_string()).await?;
        Ok(called.iter().any(|named| named.id == agent))
    }
}
