//! The built-in issuer of access tokens for machine identities. A self-hoster needs no other issuer.
//!
//! # Promise
//!
//! A token is accepted only if a key of this desk signed it, for this desk, within its validity, and only while the
//! identity that it names is valid. The identity's row determines the tenant, not the token. A key is published before
//! it signs, so a client that fetched the keys recently knows every signing key.

mod decide;
mod fire;
mod key;
mod keys;
mod rotation;
mod session;
pub(crate) mod store;
mod token;

use std::fmt;
use std::sync::Arc;

use nightdesk_types::limits::ACCESS_TOKEN_LIFE;
use nightdesk_types::{AgentId, ClientId, TenantId, TenantScope, Timestamp};
use nightdesk_vault::{Key, Vault};

pub use decide::{RefreshSeed, RefreshStep, TokenExchange, decide_refresh};
pub use key::KeyAlgorithm;
pub use session::{NoGrant, TokenPair};
pub use store::{IssuerSession, Issuing, NextRefresh, RefreshResult, Sessions, StoredKey};
pub use token::BadToken;
pub(crate) use token::{parse_agent, signature_only};

use crate::enrolment::{Digest, Identity};
use crate::error::RegisterError;
use crate::random::random_id;
use crate::store::Store;
use keys::Keys;
use token::{AUDIENCE, AccessTokenClaims, Subject, audience_of};

/// Issues access tokens and verifies them.
pub struct Issuer {
    store: Arc<dyn Store>,
    /// The issuer name in every token: the desk's URL.
    url: String,
    keys: Keys,
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Issuer({})", self.url)
    }
}

impl Issuer {
    /// Creates the issuer of the desk at this URL.
    pub fn new(store: Arc<dyn Store>, vault: Vault, url: impl Into<String>) -> Self {
        let keys = Keys::new(Arc::clone(&store), vault);
        Self { store, url: url.into(), keys }
    }

    /// Signs with this algorithm as soon as a key of it has been published long enough.
    #[must_use]
    pub fn with_algorithm(mut self, algorithm: KeyAlgorithm) -> Self {
        self.keys.wanted = algorithm;
        self
    }

    /// Returns the desk's URL without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns an access token for a client that presents an identity's secret. `None`: no identity has that id and
    /// that secret; the caller does not learn which of the two is wrong.
    pub async fn token(
        &self,
        client_id: &str,
        secret: &str,
        now: Timestamp,
    ) -> Result<Option<Key>, RegisterError> {
        let stored = match client_id.parse::<ClientId>() {
            Ok(id) => self.store.client(id).await?,
            Err(_) => None,
        };
        // The comparison also runs for an unknown id, so that the response takes the same time.
        let digest = stored.map_or(Digest::from_bytes([0; 32]), |stored| stored.secret);
        let shown = digest.is_of(secret);
        let Some(stored) = stored.filter(|stored| shown && stored.live) else { return Ok(None) };
        let subject = Subject { sub: &stored.client.id.to_string(), sid: None };
        self.sign(stored.client.scope, AUDIENCE, &subject, now).await.map(Some)
    }

    /// Returns a token for one agent only: its bearer speaks for the agent until the token expires. Only an operator
    /// can request it.
    pub async fn agent_token(
        &self,
        scope: TenantScope,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<Key, RegisterError> {
        let name = audience_of(agent);
        self.sign(scope, &name, &Subject { sub: &name, sid: None }, now).await
    }

    async fn sign(
        &self,
        scope: TenantScope,
        audience: &str,
        subject: &Subject<'_>,
        now: Timestamp,
    ) -> Result<Key, RegisterError> {
        let keys = self.keys.accepted_keys(now).await?;
        let life = i64::try_from(ACCESS_TOKEN_LIFE.as_secs()).unwrap_or(0);
        let claims = AccessTokenClaims {
            iss: self.url.clone(),
            aud: audience.to_owned(),
            sub: subject.sub.to_owned(),
            sid: subject.sid.map(str::to_owned),
            tenant: scope.tenant().to_string(),
            iat: now.as_second(),
            nbf: now.as_second(),
            exp: now.as_second() + life,
            jti: random_id().to_string(),
        };
        token::sign(&claims, &keys, self.keys.wanted, now).ok_or(RegisterError::NoSigningKey)
    }

    /// Returns the identity of a machine that presents this token. `None`: the token is invalid, or its identity is not
    /// valid any more.
    pub async fn identify(
        &self,
        bearer: &str,
        now: Timestamp,
    ) -> Result<Option<Identity>, RegisterError> {
        let believed = self.verify_claims(bearer, now).await?;
        let Some((claims, scope)) = believed.filter(|(claims, _)| claims.aud == AUDIENCE) else {
            return Ok(None);
        };
        if let Some(session) = claims.sid {
            let agent = self
                .store
                .agent_of_session(scope, &IssuerSession::from_own_issuer(session))
                .await?;
            return Ok(agent.map(|agent| Identity::from_agent(scope, agent)));
        }
        let Ok(id) = claims.sub.parse::<ClientId>() else { return Ok(None) };
        let stored = self.store.client(id).await?.filter(|stored| stored.live);
        let client = stored.map(|stored| stored.client).filter(|client| client.scope == scope);
        Ok(client.map(|client| client.identity()))
    }

    /// Returns the agent that a token is for, in the tenant that it names. `None`: the token is for no agent, or not
    /// valid any more.
    pub async fn agent_of(
        &self,
        bearer: &str,
        now: Timestamp,
    ) -> Result<Option<(TenantScope, AgentId)>, RegisterError> {
        let believed = self.verify_claims(bearer, now).await?;
        Ok(believed.and_then(|(claims, scope)| Some((scope, parse_agent(&claims.aud)?))))
    }

    async fn verify_claims(
        &self,
        bearer: &str,
        now: Timestamp,
    ) -> Result<Option<(AccessTokenClaims, TenantScope)>, RegisterError> {
        let keys = self.keys.accepted_keys(now).await?;
        let mut judged = token::verify(bearer, &keys, &self.url, now);
        if judged == Err(BadToken::UnknownKey)
            && let Some(keys) = self.keys.read_again(now).await?
        {
            judged = token::verify(bearer, &keys, &self.url, now);
        }
        Ok(judged.ok().and_then(|claims| {
            let tenant: TenantId = claims.tenant.parse().ok()?;
            Some((claims, TenantScope::for_tenant(tenant)))
        }))
    }

    /// Returns the public keys, as clients fetch them.
    pub async fn jwks(&self, now: Timestamp) -> Result<serde_json::Value, RegisterError> {
        self.keys.public_keys(now).await
    }
}
