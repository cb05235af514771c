//! Authenticates a caller of the desk by one of two proofs that are never accepted for each other.
//!
//! The proof is a token of a trusted issuer for `agent:{id}`, or an upgrade token that a gateway's secret signed. The
//! format selects the check. Tenant and agent come from the stored record; the request body is not consulted.

use nightdesk_protocol::Bearer;
use nightdesk_types::{Actor, AgentId, TenantScope, Timestamp};

use crate::gateway::{Gateway, Proof};
use crate::issuers::Issuers;
use crate::register::{Register, RegisterError};

/// An authenticated caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The tenant of the agent.
    pub scope: TenantScope,
    /// The agent that the caller speaks for.
    pub agent: AgentId,
    /// The proof that the caller presented.
    pub by: By,
}

/// The proof that a caller presented. A gateway's secret is stored on the agent's machine, so it permits less than a
/// token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A token of a trusted issuer, for exactly this agent.
    Token,
    /// The secret of this gateway.
    Gateway(Gateway),
}

/// The result of checking a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// The credential is valid for this caller.
    Known(Caller),
    /// The credential belongs to this gateway, which was revoked.
    Revoked(Gateway),
}

impl Register {
    /// Returns the caller that presents this credential. `None`: the desk knows no such caller.
    pub async fn caller(
        &self,
        issuers: &Issuers,
        shown: &Bearer<'_>,
        now: Timestamp,
    ) -> Result<Option<Called>, RegisterError> {
        match shown {
            Bearer::Jwt(token) => {
                let Some((scope, agent)) = issuers.agent_of(token, now).await? else {
                    return Ok(None);
                };
                let scope = scope.by(Actor::Agent(agent));
                let known = Called::Known(Caller { scope, agent, by: By::Token });
                Ok(self.has(scope, agent).await?.then_some(known))
            }
            Bearer::Upgrade(token) => Ok(self.identify(token).await?.map(Called::from)),
        }
    }

    /// Returns the gateway that dials. A token has no gateway, so it dials as the gateway that its agent has for
    /// tokens.
    pub async fn dials(
        &self,
        issuers: &Issuers,
        shown: &Bearer<'_>,
        now: Timestamp,
    ) -> Result<Option<Proof>, RegisterError> {
        match self.caller(issuers, shown, now).await? {
            Some(Called::Known(Caller { scope, agent, by: By::Token })) => {
                Ok(self.store().gateway_for_tokens(scope, agent).await?)
            }
            Some(Called::Known(Caller { by: By::Gateway(gateway), .. })) => {
                Ok(Some(Proof::Valid(gateway)))
            }
            Some(Called::Revoked(gateway)) => Ok(Some(Proof::Revoked(gateway))),
            None => Ok(None),
        }
    }

    /// Returns true if the tenant has this agent.
    async fn has(&self, scope: TenantScope, agent: AgentId) -> Result<bool, RegisterError> {
        let called = self.store().agents_called(scope, &agent.to_string()).await?;
        Ok(called.iter().any(|named| named.id == agent))
    }
}

impl From<Proof> for Called {
    fn from(proof: Proof) -> Self {
        match proof {
            Proof::Valid(gateway) => {
                let Gateway { scope, agent, .. } = gateway;
                Self::Known(Caller { scope, agent, by: By::Gateway(gateway) })
            }
            Proof::Revoked(gateway) => Self::Revoked(gateway),
        }
    }
}
