//! Caller: who speaks to the desk, by one of two proofs that are never taken for each other.
//!
//! A token of a trusted issuer for `agent:{id}`, or an upgrade token that a gateway's secret
//! signed. Its shape says which of the two it is judged as. Tenant and agent are those of the
//! stored record; what a body says about either is not asked.

use nightdesk_protocol::Bearer;
use nightdesk_types::{Actor, AgentId, TenantScope, Timestamp};

use crate::gateway::{Gateway, Proof};
use crate::issuers::Issuers;
use crate::register::{Register, RegisterError};

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Whose agent it speaks for.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// What proved it.
    pub by: By,
}

/// What proved who calls. A gateway's secret lies on the agent's machine, so it may not do all
/// that a token may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A token of a trusted issuer, for this very agent.
    Token,
    /// The secret of this gateway.
    Gateway(Gateway),
}

/// What came of what was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// It is this caller.
    Known(Caller),
    /// It was this gateway, and is not any more.
    Revoked(Gateway),
}

impl Register {
    /// Who shows this. `None`: nobody the desk knows.
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

    /// Which gateway dials. A token has no gateway of its own, so it dials as the one that its
    /// agent has for that.
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

    /// Whether the tenant has this agent.
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
