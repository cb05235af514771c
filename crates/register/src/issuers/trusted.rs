//! An issuer that an operator trusts.

use std::sync::Arc;

use jsonwebtoken::decode_header;
use nightdesk_types::Timestamp;
use nightdesk_types::limits::ISSUED_NAME_BYTES_MAX;
use tokio_util::task::TaskTracker;

use super::claims::{Claims, Judged, Wanted};
use super::jwks::{FetchKeys, Jwks, KeySource};
use crate::register::RegisterError;

/// What an operator says about an issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedIssuer {
    /// Its name in every token, letter by letter.
    pub url: String,
    /// Where its keys are.
    pub keys: KeySource,
    /// What its tokens for this desk have as `aud`.
    pub audience: String,
    /// The claim that names the tenant, by name or id.
    pub tenant_claim: String,
    /// How the agent is found.
    pub agent_by: AgentBy,
}

/// How the agent of a machine's token is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentBy {
    /// By its client, which is called `agent:{id}`.
    Client,
    /// By its session, which an operator noted as the agent's.
    Session,
    /// By whichever it has; the client goes first.
    #[default]
    Either,
}

/// Such an issuer, with its keys at hand.
#[derive(Debug)]
pub(super) struct Trusted {
    said: TrustedIssuer,
    keys: Jwks,
}

impl Trusted {
    pub(super) fn new(said: TrustedIssuer, fetch: Arc<dyn FetchKeys>, tasks: TaskTracker) -> Self {
        let keys = Jwks::new(said.keys.clone(), fetch, tasks);
        Self { said, keys }
    }

    pub(super) fn url(&self) -> &str {
        &self.said.url
    }

    pub(super) fn audience(&self) -> &str {
        &self.said.audience
    }

    pub(super) const fn agent_by(&self) -> AgentBy {
        self.said.agent_by
    }

    /// What a token says that this issuer signed and that is good now. `None`: it is not believed.
    pub(super) async fn judge(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Option<Judged>, RegisterError> {
        let Some(kid) = named_key(token) else { return Ok(None) };
        let key = self.keys.named(&kid).await.map_err(|_| RegisterError::NoIssuerKeys)?;
        let Some(claims) = key.and_then(|key| key.verify::<Claims>(token)) else {
            return Ok(None);
        };
        let wanted = Wanted { issuer: &self.said.url, tenant_claim: &self.said.tenant_claim };
        Ok(claims.judge(&wanted, now))
    }
}

/// The key a token names, if it is one for us at all. Where else it says that keys are is not read.
fn named_key(token: &str) -> Option<String> {
    const TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];
    let header = decode_header(token).ok()?;
    let named = |typ: &String| TYPES.contains(&typ.to_ascii_lowercase().as_str());
    let is_ours = header.typ.as_ref().is_none_or(named) && header.crit.is_none();
    header.kid.filter(|kid| is_ours && (1..=ISSUED_NAME_BYTES_MAX).contains(&kid.len()))
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
