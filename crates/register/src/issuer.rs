//! Issuer: who gives out access tokens to machine identities, so that a self-hoster needs no
//! other.
//!
//! # Promise
//!
//! A token is believed only if a key of this desk signed it, for this desk, just now, and only
//! while the identity it names is live: whose it is, its row says and not the token.

mod key;
mod store;
mod token;

use std::fmt;
use std::sync::{Arc, OnceLock};

use nightdesk_types::limits::ACCESS_TOKEN_LIFE;
use nightdesk_types::{AgentId, ClientId, TenantId, TenantScope, Timestamp};
use nightdesk_vault::{Key, Vault};
use serde_json::{Value, json};

pub use store::{Issuing, StoredKey};
pub use token::BadToken;

use crate::enrolment::{Client, Digest};
use crate::register::{RegisterError, random_id};
use crate::store::Store;
use key::SigningKey;
use token::{AUDIENCE, Claims, audience_of, named_agent};

/// Gives out access tokens and knows them again.
pub struct Issuer {
    store: Arc<dyn Store>,
    vault: Vault,
    /// Its name in every token: where the desk is found.
    url: String,
    keys: OnceLock<Arc<[SigningKey]>>,
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Issuer({})", self.url)
    }
}

impl Issuer {
    /// The issuer of the desk that is found at this URL.
    pub fn over(store: Arc<dyn Store>, vault: Vault, url: impl Into<String>) -> Self {
        Self { store, vault, url: url.into(), keys: OnceLock::new() }
    }

    /// Where the desk is found, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// An access token for who shows an identity's secret. `None`: nobody has that id and that
    /// secret; which of the two is wrong is not told.
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
        // Compared also when there is nothing to compare with, so that it takes as long.
        let digest = stored.map_or(Digest::from_bytes([0; 32]), |stored| stored.secret);
        let shown = digest.is_of(secret);
        let Some(stored) = stored.filter(|stored| shown && stored.live) else { return Ok(None) };
        self.issue(&stored.client, now).await.map(Some)
    }

    /// A token for one agent alone: with it, who it is given to speaks for the agent until it
    /// ends. An operator asks for it; nobody outside can.
    pub async fn agent_token(
        &self,
        scope: TenantScope,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<Key, RegisterError> {
        let name = audience_of(agent);
        self.sign(scope, &name, &name, now).await
    }

    async fn issue(&self, client: &Client, now: Timestamp) -> Result<Key, RegisterError> {
        self.sign(client.scope, AUDIENCE, &client.id.to_string(), now).await
    }

    async fn sign(
        &self,
        scope: TenantScope,
        audience: &str,
        subject: &str,
        now: Timestamp,
    ) -> Result<Key, RegisterError> {
        let keys = self.keys(now).await?;
        let life = i64::try_from(ACCESS_TOKEN_LIFE.as_secs()).unwrap_or(0);
        let claims = Claims {
            iss: self.url.clone(),
            aud: audience.to_owned(),
            sub: subject.to_owned(),
            tenant: scope.tenant().to_string(),
            iat: now.as_second(),
            nbf: now.as_second(),
            exp: now.as_second() + life,
            jti: random_id().to_string(),
        };
        token::sign(&claims, &keys, now).ok_or(RegisterError::NoSigningKey)
    }

    /// The machine identity an access token is of. `None`: it is nobody's, or not any more.
    pub async fn identify(
        &self,
        bearer: &str,
        now: Timestamp,
    ) -> Result<Option<Client>, RegisterError> {
        let keys = self.keys(now).await?;
        let Ok(claims) = token::verify(bearer, &keys, &self.url, now) else { return Ok(None) };
        if claims.aud != AUDIENCE {
            return Ok(None);
        }
        let Ok(id) = claims.sub.parse::<ClientId>() else { return Ok(None) };
        let stored = self.store.client(id).await?.filter(|stored| stored.live);
        let same = |client: &Client| client.scope.tenant().to_string() == claims.tenant;
        Ok(stored.map(|stored| stored.client).filter(same))
    }

    /// The agent that a token is for, in the tenant that it names. `None`: it is for nobody's
    /// agent, or not any more.
    pub async fn agent_of(
        &self,
        bearer: &str,
        now: Timestamp,
    ) -> Result<Option<(TenantScope, AgentId)>, RegisterError> {
        let keys = self.keys(now).await?;
        let Ok(claims) = token::verify(bearer, &keys, &self.url, now) else { return Ok(None) };
        let tenant = claims.tenant.parse::<TenantId>().ok();
        Ok(tenant.map(TenantScope::of).zip(named_agent(&claims.aud)))
    }

    /// The public halves of the keys, as others fetch them.
    pub async fn jwks(&self, now: Timestamp) -> Result<Value, RegisterError> {
        let keys = self.keys(now).await?;
        Ok(json!({ "keys": keys.iter().map(SigningKey::public).collect::<Vec<_>>() }))
    }

    /// The keys, read once. The first node that needs one makes it.
    async fn keys(&self, now: Timestamp) -> Result<Arc<[SigningKey]>, RegisterError> {
        if let Some(keys) = self.keys.get() {
            return Ok(Arc::clone(keys));
        }
        let mut stored = self.store.signing_keys().await?;
        if stored.is_empty() {
            stored = self.store.first_signing_key(&key::first(&self.vault, now)).await?;
        }
        let opened: Result<Vec<_>, _> =
            stored.iter().map(|stored| SigningKey::open(&self.vault, stored)).collect();
        let keys: Arc<[SigningKey]> = opened?.into();
        Ok(Arc::clone(self.keys.get_or_init(|| keys)))
    }
}
