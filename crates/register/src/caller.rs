//! Authenticated callers of the desk, and the proofs that they presented.

use nightdesk_types::{AgentId, TenantScope};

use crate::gateway::{Gateway, GatewayProof};

/// An authenticated caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The tenant of the agent.
    pub scope: TenantScope,
    /// The agent that the caller speaks for.
    pub agent: AgentId,
    /// The proof that the caller presented.
    pub proof: CallerProof,
}

/// The proof that a caller presented. A gateway's secret is stored on the agent's machine, so it permits less than a
/// token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerProof {
    /// A token of a trusted issuer, for exactly this agent.
    Token,
    /// The secret of this gateway.
    Gateway(Gateway),
}

/// The result of checking a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerCheck {
    /// The credential is valid for this caller.
    Known(Caller),
    /// The credential belongs to this gateway, which was revoked.
    Revoked(Gateway),
}

impl From<GatewayProof> for CallerCheck {
    fn from(proof: GatewayProof) -> Self {
        match proof {
            GatewayProof::Valid(gateway) => {
                let Gateway { scope, agent, .. } = gateway;
                Self::Known(Caller { scope, agent, proof: CallerProof::Gateway(gateway) })
            }
            GatewayProof::Revoked(gateway) => Self::Revoked(gateway),
        }
    }
}
