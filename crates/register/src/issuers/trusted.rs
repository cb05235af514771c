//! An issuer that the operator trusts.

use std::sync::Arc;

use jsonwebtoken::decode_header;
use nightdesk_types::Timestamp;
use nightdesk_types::limits::ISSUED_NAME_BYTES_MAX;
use tokio_util::task::TaskTracker;

use super::claims::{AcceptedClaims, ExpectedClaims, IssuerClaims};
use super::jwks::{FetchKeys, Jwks, KeySource};
use crate::error::RegisterError;

/// The operator's configuration of an issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedIssuer {
    /// The issuer's name in every token, compared exactly.
    pub url: String,
    /// The location of its keys.
    pub keys: KeySource,
    /// The `aud` of its tokens for this desk.
    pub audience: String,
    /// The claim that names the tenant, by name or id.
    pub tenant_claim: String,
    /// The way to find the agent.
    pub agent_by: AgentBy,
}

/// The way to find the agent of a machine's token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentBy {
    /// By the token's client, which is called `agent:{id}`.
    Client,
    /// By the token's session, which an operator recorded as the agent's.
    Session,
    /// By either; the client is tried first.
    #[default]
    Either,
}

/// A trusted issuer with its cached keys.
#[derive(Debug)]
pub(super) struct IssuerVerifier {
    issuer: TrustedIssuer,
    keys: Jwks,
}

impl IssuerVerifier {
    pub(super) fn new(said: TrustedIssuer, fetch: Arc<dyn FetchKeys>, tasks: TaskTracker) -> Self {
        let keys = Jwks::new(said.keys.clone(), fetch, tasks);
        Self { issuer: said, keys }
    }

    pub(super) fn url(&self) -> &str {
        &self.issuer.url
    }

    pub(super) fn audience(&self) -> &str {
        &self.issuer.audience
    }

    pub(super) const fn agent_by(&self) -> AgentBy {
        self.issuer.agent_by
    }

    /// Returns the claims of a token that this issuer signed and that is valid now. `None`: the token is not accepted.
    pub(super) async fn verify_token(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<AcceptedClaims>, RegisterError> {
        let Some(kid) = read_key_id(token, &ACCESS_TOKEN_TYPES) else { return Ok(None) };
        let key = self.keys.find_key(&kid).await.map_err(|_| RegisterError::NoIssuerKeys)?;
        let Some(claims) = key.and_then(|key| key.verify::<IssuerClaims>(token)) else {
            return Ok(None);
        };
        let wanted =
            ExpectedClaims { issuer: &self.issuer.url, tenant_claim: &self.issuer.tenant_claim };
        Ok(claims.check(&wanted, now))
    }
}

/// The types of access tokens.
const ACCESS_TOKEN_TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];

/// Returns the key that a token names, if the token has one of these types, or none. Key URLs in the header are not
/// read.
pub(super) fn read_key_id(token: &str, types: &[&str]) -> Option<String> {
    let header = decode_header(token).ok()?;
    let named = |typ: &String| types.contains(&typ.to_ascii_lowercase().as_str());
    let is_ours = header.typ.as_ref().is_none_or(named) && header.crit.is_none();
    header.kid.filter(|kid| is_ours && (1..=ISSUED_NAME_BYTES_MAX).contains(&kid.len()))
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
