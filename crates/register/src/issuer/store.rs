//! The store interface of the issuer.

use async_trait::async_trait;
use nightdesk_types::{Actor, AgentId, StoreError, TenantId, TenantScope, Timestamp};

use super::{KeyAlgorithm, RefreshSeed};
use crate::enrolment::{Digest, Identity};

/// A signing key as the store has it, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// The key's number; the first is one.
    pub number: i64,
    /// The key's name in tokens.
    pub kid: String,
    /// The key's algorithm.
    pub algorithm: KeyAlgorithm,
    /// The sealed key.
    pub sealed: Vec<u8>,
    /// The time from which the key signs. Until then it is only published.
    pub used_from: Timestamp,
    /// True if the key was retired: no token that it signed is accepted.
    pub retired: bool,
}

/// Stores the desk's signing keys. They belong to no tenant.
#[async_trait]
pub trait Issuing: Send + Sync {
    /// Returns every key that ever existed, oldest first.
    async fn signing_keys(&self) -> Result<Vec<StoredKey>, StoreError>;

    /// Creates a key and returns all keys, as [`Issuing::signing_keys`] does. If another node created a key of that
    /// number first, that key stays and this one is dropped.
    async fn enter_signing_key(&self, key: &StoredKey) -> Result<Vec<StoredKey>, StoreError>;

    /// Retires a key. Returns true if a key of that name exists.
    async fn retire_signing_key(&self, by: Actor, kid: &str) -> Result<bool, StoreError>;
}

/// The session that an agent was set up with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuerSession {
    /// The issuer of the session. `None`: the desk's own issuer.
    pub issuer: Option<String>,
    /// The issuer's id for the session.
    pub id: String,
}

impl IssuerSession {
    /// Returns a session of the desk's own issuer.
    pub fn from_own_issuer(id: impl Into<String>) -> Self {
        Self { issuer: None, id: id.into() }
    }
}

/// The result of presenting a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshResult {
    /// The session belongs to this agent, and the successor of this seed is stored.
    Next {
        /// The agent.
        identity: Identity,
        /// The seed of the only successor: the presented one, or that of the first exchange.
        seed: RefreshSeed,
    },
    /// The token was exchanged long ago, or its successor was used, so two parties have it. The session has ended.
    Reused,
    /// The tenant has no valid session with that token.
    Unknown,
}

/// A successor for a presented refresh token, used unless the token already has one.
#[derive(Clone, Copy, Debug)]
pub struct NextRefresh {
    /// The seed from which the successor is derived.
    pub seed: RefreshSeed,
    /// The digest of the successor.
    pub token: Digest,
}

/// Stores the sessions that agents were set up with.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Records a session of an agent, with its first refresh token if the desk issued it. Returns false if the session
    /// belongs to another agent or has ended; it stays unchanged then.
    async fn begin_session(
        &self,
        scope: TenantScope,
        agent: AgentId,
        session: &IssuerSession,
        refresh: Option<Digest>,
    ) -> Result<bool, StoreError>;

    /// Ends a session. Returns true if the tenant has it.
    async fn end_session(
        &self,
        scope: TenantScope,
        session: &IssuerSession,
    ) -> Result<bool, StoreError>;

    /// Returns the agent that the valid session belongs to.
    async fn agent_of_session(
        &self,
        scope: TenantScope,
        session: &IssuerSession,
    ) -> Result<Option<AgentId>, StoreError>;

    /// Exchanges a refresh token of one of our sessions for the next, if the tenant it names has it. See
    /// [`decide_refresh`](super::decide_refresh) for a token that is presented again.
    async fn refresh(
        &self,
        tenant: TenantId,
        session: &str,
        shown: Digest,
        next: NextRefresh,
    ) -> Result<RefreshResult, StoreError>;
}
