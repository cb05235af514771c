//! Sessions: an unattended agent renews its own access.
//!
//! The agent is set up with an access token and a refresh token. It exchanges the refresh token for a new pair, in the
//! format that the stock client requests.

use aws_lc_rs::hmac;
use nightdesk_types::limits::REFRESH_TOKEN_BYTES_MAX;
use nightdesk_types::{AgentId, TenantId, TenantScope, Timestamp};
use nightdesk_vault::Key;
use uuid::Uuid;

use super::store::{IssuerSession, NextRefresh, RefreshResult};
use super::token::{AUDIENCE, Subject};
use super::{Issuer, RefreshSeed};
use crate::enrolment::Digest;
use crate::error::RegisterError;
use crate::random::{new_secret, random_bytes, random_id};

/// Prefix of our refresh tokens, so that scanners recognise a leaked one.
const MARK: &str = "ndr";

/// The tokens that an agent gets at the beginning of its session and at each refresh.
#[derive(Debug)]
pub struct TokenPair {
    /// The access token.
    pub access: Key,
    /// The refresh token for the next exchange.
    pub refresh: Key,
}

/// The reason that a refresh is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGrant {
    /// No valid session has this token.
    #[error("refresh token is not known")]
    Unknown,
    /// Two parties have the token. The session has ended.
    #[error("refresh token was used twice")]
    Reused,
}

impl Issuer {
    /// Begins a session of an agent. Returns its id, by which it can be ended.
    pub async fn begin_session(
        &self,
        scope: TenantScope,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<(IssuerSession, TokenPair), RegisterError> {
        let id = random_id();
        let (session, refresh) =
            (IssuerSession::from_own_issuer(id.to_string()), Refresh::new(scope.tenant(), id));
        let digest = refresh.text.with(Digest::from_secret);
        let begun = self.store.begin_session(scope, agent, &session, Some(digest)).await?;
        debug_assert!(begun, "a session that was just named is nobody's");
        let access = self.access_token(scope, &session.id, now).await?;
        Ok((session, TokenPair { access, refresh: refresh.text }))
    }

    /// Returns an access token of an agent's ambient session, which begins at the first request. A session that an
    /// operator ended stays ended, and its tokens are refused.
    pub async fn ambient_token(
        &self,
        scope: TenantScope,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<Key, RegisterError> {
        let session = IssuerSession::from_own_issuer(format!("ambient:{agent}"));
        self.store.begin_session(scope, agent, &session, None).await?;
        self.access_token(scope, &session.id, now).await
    }

    /// Exchanges a refresh token for a new access token and the next refresh token. The same token gets the same
    /// successor again for a short time, as long as the successor was not used.
    pub async fn refresh(
        &self,
        shown: &str,
        now: Timestamp,
    ) -> Result<Result<TokenPair, NoGrant>, RegisterError> {
        let Some((tenant, id)) = read(shown) else { return Ok(Err(NoGrant::Unknown)) };
        let session = id.to_string();
        let successor = |seed| Refresh::after(tenant, id, shown, &seed).text;
        let seed = RefreshSeed::from_bytes(random_bytes());
        let next = NextRefresh { seed, token: successor(seed).with(Digest::from_secret) };
        match self.store.refresh(tenant, &session, Digest::from_secret(shown), next).await? {
            RefreshResult::Next { identity, seed } => {
                let access = self.access_token(identity.scope, &session, now).await?;
                Ok(Ok(TokenPair { access, refresh: successor(seed) }))
            }
            RefreshResult::Reused => Ok(Err(NoGrant::Reused)),
            RefreshResult::Unknown => Ok(Err(NoGrant::Unknown)),
        }
    }

    async fn access_token(
        &self,
        scope: TenantScope,
        session: &str,
        now: Timestamp,
    ) -> Result<Key, RegisterError> {
        let subject = Subject { sub: session, sid: Some(session) };
        self.sign(scope, AUDIENCE, &subject, now).await
    }
}

/// A refresh token. It names its tenant and its session, so its row is looked up only in that tenant; the secret after
/// them is the proof.
struct Refresh {
    text: Key,
}

impl Refresh {
    /// Returns the first token of a session.
    fn new(tenant: TenantId, session: Uuid) -> Self {
        Self::with_secret(tenant, session, &new_secret())
    }

    /// Returns the successor of a token. Both the token and the seed are needed to derive it.
    fn after(tenant: TenantId, session: Uuid, shown: &str, seed: &RefreshSeed) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, seed.as_bytes());
        let secret = Key::new(hex::encode(hmac::sign(&key, shown.as_bytes()).as_ref()));
        Self::with_secret(tenant, session, &secret)
    }

    fn with_secret(tenant: TenantId, session: Uuid, secret: &Key) -> Self {
        let tenant = tenant.uuid();
        let text = |secret: &str| {
            format!("{MARK}_{}_{}_{secret}", tenant.as_simple(), session.as_simple())
        };
        Self { text: Key::new(secret.with(text)) }
    }
}

/// Returns the tenant and the session that a refresh token names. Nothing is verified.
fn read(token: &str) -> Option<(TenantId, Uuid)> {
    if token.len() > REFRESH_TOKEN_BYTES_MAX {
        return None;
    }
    let mut parts = token.split('_');
    let [mark, tenant, session, _secret] = std::array::from_fn(|_| parts.next().unwrap_or(""));
    if mark != MARK || parts.next().is_some() {
        return None;
    }
    let (tenant, session) = (Uuid::try_parse(tenant).ok()?, Uuid::try_parse(session).ok()?);
    Some((TenantId::from_uuid(tenant), session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_token_names_its_tenant_and_session() {
        let tenant = TenantId::from_uuid(Uuid::from_u128(7));
        let session = Uuid::from_u128(9);
        let token = Refresh::new(tenant, session).text.with(str::to_owned);

        assert_eq!(read(&token), Some((tenant, session)));
        let after = |shown: &str, seed: u8| {
            let seed = RefreshSeed::from_bytes([seed; 32]);
            Refresh::after(tenant, session, shown, &seed).text.with(str::to_owned)
        };
        assert_eq!(read(&after(&token, 1)), Some((tenant, session)));
        assert_eq!(after(&token, 1), after(&token, 1));
        assert_ne!(after(&token, 1), after(&token, 2));
        assert_ne!(after(&token, 1), after("another", 1));
        let long = format!("{token}{}", "0".repeat(REFRESH_TOKEN_BYTES_MAX));
        let others = ["", "ndr", "ndr_1_2_3", &token[1..], &format!("{token}_x"), &long];
        for other in others {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
