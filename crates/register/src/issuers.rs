//! Verifies tokens of all trusted issuers.
//!
//! # Promise
//!
//! A token is accepted only if a key of the issuer that it names signed it, with that key's single algorithm, for this
//! desk or for one agent, and within its validity. A token with a `purpose` is refused. Rows determine the tenant and
//! the agent.

mod claims;
mod id_token;
mod jwks;
mod public_key;
mod trusted;

use std::sync::Arc;

use jsonwebtoken::dangerous::insecure_decode_claims;
use nightdesk_types::limits::ISSUED_TOKEN_BYTES_MAX;
use nightdesk_types::{AgentId, TenantScope, Timestamp};
use serde::Deserialize;
use tokio_util::task::TaskTracker;

pub use id_token::{IdTokenClaims, IdTokenVerifier};
pub use jwks::{FetchKeys, KeySource};
pub use trusted::{AgentBy, TrustedIssuer};

use crate::enrolment::Identity;
use crate::error::RegisterError;
use crate::issuer::{Issuer, IssuerSession, parse_agent};
use crate::store::Store;
use claims::AcceptedClaims;
use trusted::IssuerVerifier;

/// The desk's own issuer and the other issuers that the operator trusts.
#[derive(Debug)]
pub struct Issuers {
    own: Issuer,
    others: Vec<IssuerVerifier>,
}

impl Issuers {
    /// Trusts only the desk's own issuer.
    pub const fn only_own(own: Issuer) -> Self {
        Self { own, others: Vec::new() }
    }

    /// Also trusts these issuers. `fetch` gets their keys, in tasks of `tasks`, because a caller may hang up.
    #[must_use]
    pub fn trusting(
        mut self,
        others: Vec<TrustedIssuer>,
        fetch: &Arc<dyn FetchKeys>,
        tasks: &TaskTracker,
    ) -> Self {
        let trusted = |other| IssuerVerifier::new(other, Arc::clone(fetch), tasks.clone());
        self.others.extend(others.into_iter().map(trusted));
        self
    }

    /// Returns the desk's own issuer.
    pub const fn own_issuer(&self) -> &Issuer {
        &self.own
    }

    /// Returns true if the operator trusts the issuer of this name besides the desk's own.
    pub fn is_trusted(&self, issuer: &str) -> bool {
        self.others.iter().any(|other| other.url() == issuer)
    }

    /// Returns the agent that a token names in `aud`, in the tenant that the token names. The caller checks that the
    /// tenant has that agent. `None`: the token is not accepted.
    pub async fn agent_of(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<(TenantScope, AgentId)>, RegisterError> {
        let Some(other) = self.other_issuer(token) else {
            return self.own.agent_of(token, now).await;
        };
        let Some(judged) = other.verify_token(token, now).await? else { return Ok(None) };
        let Some(agent) = judged.only_agent() else { return Ok(None) };
        Ok(self.tenant(&judged).await?.map(|scope| (scope, agent)))
    }

    /// Returns the identity of a machine that presents this token. `None`: the token is not accepted, or no agent has
    /// it.
    pub async fn identify(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<Identity>, RegisterError> {
        let Some(other) = self.other_issuer(token) else {
            return self.own.identify(token, now).await;
        };
        let Some(judged) = other.verify_token(token, now).await? else { return Ok(None) };
        if !judged.is_for(other.audience()) {
            return Ok(None);
        }
        let Some(scope) = self.tenant(&judged).await? else { return Ok(None) };
        let agent = self.agent(scope, other, &judged).await?;
        Ok(agent.map(|agent| Identity::from_agent(scope, agent)))
    }

    /// Returns the issuer that a token names, if it is not the desk itself. Nothing is verified.
    fn other_issuer(&self, token: &str) -> Option<&IssuerVerifier> {
        #[derive(Deserialize)]
        struct UnverifiedIssuer {
            iss: String,
        }
        if token.len() > ISSUED_TOKEN_BYTES_MAX {
            return None;
        }
        let named: UnverifiedIssuer = insecure_decode_claims(token).ok()?;
        self.others.iter().find(|other| other.url() == named.iss)
    }

    /// Returns the tenant that a token names, by name or id. An ambiguous name matches no tenant.
    async fn tenant(&self, judged: &AcceptedClaims) -> Result<Option<TenantScope>, RegisterError> {
        let called = self.store().tenants_called(&judged.tenant).await?;
        match called.as_slice() {
            [one] => Ok(Some(TenantScope::for_tenant(one.id))),
            _ => Ok(None),
        }
    }

    /// Returns the tenant's agent that the token's client or session belongs to.
    async fn agent(
        &self,
        scope: TenantScope,
        issuer: &IssuerVerifier,
        judged: &AcceptedClaims,
    ) -> Result<Option<AgentId>, RegisterError> {
        let by = issuer.agent_by();
        if let Some(agent) = judged.client.as_deref().and_then(parse_agent)
            && by != AgentBy::Session
        {
            let called = self.store().agents_called(scope, &agent.to_string()).await?;
            return Ok(called.iter().map(|named| named.id).find(|id| *id == agent));
        }
        let Some(id) = judged.session.clone().filter(|_| by != AgentBy::Client) else {
            return Ok(None);
        };
        let session = IssuerSession { issuer: Some(issuer.url().to_owned()), id };
        Ok(self.store().agent_of_session(scope, &session).await?)
    }

    fn store(&self) -> &dyn Store {
        self.own.store()
    }
}

#[cfg(test)]
mod test_pair;
