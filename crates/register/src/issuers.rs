//! Issuers: whose tokens are believed.

use nightdesk_types::{AgentId, TenantScope, Timestamp};

use crate::issuer::Issuer;
use crate::register::RegisterError;

/// The desk's own issuer.
#[derive(Debug)]
pub struct Issuers {
    own: Issuer,
}

impl Issuers {
    /// Believes the desk's own issuer and nobody else.
    pub const fn own_alone(own: Issuer) -> Self {
        Self { own }
    }

    /// The desk's own.
    pub const fn own(&self) -> &Issuer {
        &self.own
    }

    /// The agent that a token is for, as `aud` names it, in the tenant that the token names.
    /// Whether that tenant has it, its row says. `None`: the token is not believed.
    pub async fn agent_of(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<(TenantScope, AgentId)>, RegisterError> {
        self.own.agent_of(token, now).await
    }
}
