//! What the issuer asks of a store.

use async_trait::async_trait;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope, Timestamp};

use super::KeyAlgorithm;
use crate::enrolment::{Digest, Identity};

/// A signing key as the store has it, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// Its number: the first is one.
    pub number: i64,
    /// Its name in tokens.
    pub kid: String,
    /// What it signs with.
    pub algorithm: KeyAlgorithm,
    /// The sealed key.
    pub sealed: Vec<u8>,
    /// From when on it signs. Until then it is only made known.
    pub used_from: Timestamp,
    /// Whether it was taken out of use: nothing it signed is believed.
    pub retired: bool,
}

/// Keeps the desk's signing keys. They are no tenant's.
#[async_trait]
pub trait Issuing: Send + Sync {
    /// Every key there ever was, oldest first.
    async fn signing_keys(&self) -> Result<Vec<StoredKey>, StoreError>;

    /// Enters a key, and answers as [`Issuing::signing_keys`] does. If somebody else's of that
    /// number was first, that one stands and this one is forgotten.
    async fn enter_signing_key(&self, key: &StoredKey) -> Result<Vec<StoredKey>, StoreError>;

    /// Takes a key out of use. Answers whether there is one of that name.
    async fn retire_signing_key(&self, kid: &str) -> Result<bool, StoreError>;
}

/// The session an agent was given when it was set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Whose session it is. None: the desk's own.
    pub issuer: Option<String>,
    /// What its issuer calls it.
    pub id: String,
}

impl Session {
    /// A session of the desk's own issuer.
    pub fn own(id: impl Into<String>) -> Self {
        Self { issuer: None, id: id.into() }
    }
}

/// What came of showing a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refreshed {
    /// The session is this agent's, and the next token is known.
    Next(Identity),
    /// It was traded long ago: two have it. The session is over.
    Reused,
    /// The tenant has no live session with that token.
    Unknown,
}

/// Keeps the sessions that agents were set up with.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Notes that a session is an agent's, with its first refresh token if it is one of ours.
    /// Answers whether it is now: a session that is another agent's, or over, stays so.
    async fn begin_session(
        &self,
        scope: TenantScope,
        agent: AgentId,
        session: &Session,
        refresh: Option<Digest>,
    ) -> Result<bool, StoreError>;

    /// Ends a session. Answers whether the tenant has it.
    async fn end_session(&self, scope: TenantScope, session: &Session) -> Result<bool, StoreError>;

    /// The agent whose live session it is.
    async fn agent_of_session(
        &self,
        scope: TenantScope,
        session: &Session,
    ) -> Result<Option<AgentId>, StoreError>;

    /// Trades a refresh token of one of our sessions for the next, if the tenant it names has it.
    /// The one that was shown is good
    /// for a little longer; see [`REFRESH_OVERLAP`](nightdesk_types::limits::REFRESH_OVERLAP).
    async fn refresh(
        &self,
        tenant: TenantId,
        session: &str,
        shown: Digest,
        next: Digest,
    ) -> Result<Refreshed, StoreError>;
}
