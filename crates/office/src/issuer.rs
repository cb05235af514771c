//! The desk's signing keys, and the tokens and sessions of agents.

use nightdesk_register::audit::Kind;
use nightdesk_register::issuer::{IssuerSession, StoredKey, TokenPair};
use nightdesk_types::limits::{ACCESS_TOKEN_LIFE, ISSUED_NAME_BYTES_MAX};
use nightdesk_types::{AgentId, TenantScope, Timestamp};
use nightdesk_users::Access;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::times::seconds;

/// A key that signs the desk's tokens.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SigningKeyView {
    /// Its name in tokens.
    pub kid: String,
    /// Its algorithm.
    pub algorithm: &'static str,
    /// The time from which it signs. Until then it is only published.
    pub used_from: String,
    /// True if no token that it signed is accepted.
    pub retired: bool,
}

impl From<StoredKey> for SigningKeyView {
    fn from(key: StoredKey) -> Self {
        let StoredKey { kid, algorithm, used_from, retired, .. } = key;
        Self { kid, algorithm: algorithm.slug(), used_from: seconds(used_from), retired }
    }
}

/// A signing key that was retired.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RetiredSigningKey {
    /// Its name in tokens.
    pub kid: String,
    /// True.
    pub retired: bool,
}

/// A token whose bearer speaks for one agent. Its text is shown once.
#[derive(Serialize, ToSchema)]
pub struct AgentTokenView {
    /// Its text, for `Authorization: Bearer`.
    pub token: String,
    /// The seconds until it expires.
    pub expires_in_secs: u64,
}

nightdesk_types::opaque_debug!(AgentTokenView);

/// A session that was begun for an unattended agent. Its credentials are shown once.
#[derive(Serialize, ToSchema)]
pub struct SessionCredentials {
    /// The session's id, by which it can be ended.
    pub session: String,
    /// The credentials, in the format of the stock client's file `~/.hermes/auth.json`.
    pub auth: Value,
    /// The desk's URL for the client.
    pub portal_url: String,
}

nightdesk_types::opaque_debug!(SessionCredentials);

/// A session of another issuer that belongs to an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BoundSession {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The session's id.
    pub session: String,
}

/// A session that was ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EndedSession {
    /// The session's id.
    pub session: String,
    /// True.
    pub ended: bool,
}

impl Office {
    /// Returns the keys that sign the desk's tokens, oldest first.
    pub async fn signing_keys(&self, now: Timestamp) -> Result<Vec<SigningKeyView>, OfficeError> {
        let stops = &self.desk.stops;
        // Creates the first key, or the next one if it is due.
        stops.issuers.own_issuer().jwks(now).await?;
        let keys = stops.register.store().signing_keys().await?;
        Ok(keys.into_iter().map(SigningKeyView::from).collect())
    }

    /// Retires a key at once: no token that it signed is accepted any more.
    pub async fn retire_signing_key(
        &self,
        access: &Access,
        kid: String,
    ) -> Result<RetiredSigningKey, OfficeError> {
        let store = self.desk.stops.register.store();
        if !is_issued_name(&kid) || !store.retire_signing_key(access.actor, &kid).await? {
            return Err(OfficeError::NotFound(format!(
                "there is no key called {kid}; `nightdesk issuer keys` shows them"
            )));
        }
        Ok(RetiredSigningKey { kid, retired: true })
    }

    /// Returns a token whose bearer speaks for one agent.
    pub async fn agent_token(
        &self,
        scope: TenantScope,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<AgentTokenView, OfficeError> {
        let stops = &self.desk.stops;
        let about = json!({ "agent_id": agent });
        stops.register.store().note(scope, Kind::AgentTokenMade, &about).await?;
        let token = stops.issuers.own_issuer().agent_token(scope, agent, now).await?;
        let expires_in_secs = ACCESS_TOKEN_LIFE.as_secs();
        Ok(AgentTokenView { token: token.with(str::to_owned), expires_in_secs })
    }

    /// Begins a session for an unattended agent.
    pub async fn begin_session(
        &self,
        scope: TenantScope,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<SessionCredentials, OfficeError> {
        let own = self.desk.stops.issuers.own_issuer();
        let (session, tokens) = own.begin_session(scope, agent, now).await?;
        let portal_url = own.url().to_owned();
        let auth = client_file(&portal_url, &tokens, now);
        Ok(SessionCredentials { session: session.id, auth, portal_url })
    }

    /// Records that a session of another issuer belongs to an agent.
    pub async fn bind_session(
        &self,
        scope: TenantScope,
        agent: AgentId,
        issuer: &str,
        session: &str,
    ) -> Result<BoundSession, OfficeError> {
        let stops = &self.desk.stops;
        if !stops.issuers.is_trusted(issuer) {
            return Err(OfficeError::Invalid(format!(
                "{issuer} is not a trusted issuer; add it to `issuers` in the configuration"
            )));
        }
        let bound = read_session(Some(issuer.to_owned()), session)?;
        if !stops.register.store().begin_session(scope, agent, &bound, None).await? {
            return Err(OfficeError::Conflict(format!(
                "session {session} belongs to another agent, or has ended; use another session"
            )));
        }
        Ok(BoundSession { agent_id: agent, session: bound.id })
    }

    /// Ends a session of the desk's own issuer or of another: no token of it is accepted any more.
    pub async fn end_session(
        &self,
        scope: TenantScope,
        issuer: Option<String>,
        session: &str,
    ) -> Result<EndedSession, OfficeError> {
        let ended = read_session(issuer, session)?;
        if !self.desk.stops.register.store().end_session(scope, &ended).await? {
            return Err(OfficeError::NotFound(format!(
                "the tenant has no session called {session}"
            )));
        }
        Ok(EndedSession { session: ended.id, ended: true })
    }
}

fn read_session(issuer: Option<String>, session: &str) -> Result<IssuerSession, OfficeError> {
    if is_issued_name(session) && issuer.as_deref().is_none_or(is_issued_name) {
        return Ok(IssuerSession { issuer, id: session.to_owned() });
    }
    Err(OfficeError::Invalid(format!(
        "issuer and session must have 1 to {ISSUED_NAME_BYTES_MAX} bytes on one line"
    )))
}

fn is_issued_name(name: &str) -> bool {
    (1..=ISSUED_NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// Formats tokens as the file of the stock client.
fn client_file(url: &str, tokens: &TokenPair, now: Timestamp) -> Value {
    let expires_at = now.checked_add(ACCESS_TOKEN_LIFE).unwrap_or(now).to_string();
    json!({ "version": 1, "providers": { "nous": {
        "access_token": tokens.access.with(str::to_owned),
        "refresh_token": tokens.refresh.with(str::to_owned),
        "expires_at": expires_at, "client_id": "nightdesk", "portal_base_url": url,
    }}})
}
