//! Capabilities: credentials that a platform issued for one session of one agent.
//!
//! A capability is sealed for its tenant, agent, session, kind, bot and chat, so a row that is moved elsewhere does not
//! open. Only the agent it was bound for can have it used, and the agent never sees it.

use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_types::{AgentId, BotId, DataKeyId, StoreError, TenantScope};
use nightdesk_vault::WrappedKey;

/// The digest of a session's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionDigest([u8; 32]);

impl SessionDigest {
    /// Returns the digest of a session's name.
    pub fn from_key(session_key: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, session_key.as_bytes()).as_ref());
        Self(bytes)
    }

    /// Returns the bytes to store.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The session that a capability is bound to.
#[derive(Clone, Copy, Debug)]
pub struct CapabilitySession<'a> {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The digest of the session's name.
    pub session: SessionDigest,
    /// The kind of the capability.
    pub kind: &'a str,
}

/// The place where a capability applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapabilityPlace<'a> {
    /// The bot that makes the call.
    pub bot: BotId,
    /// The chat.
    pub chat: &'a str,
}

/// A capability sealed for one session, ready to be written.
#[derive(Clone, Debug)]
pub struct SealedCapability {
    /// The tenant and the agent.
    pub agent: (TenantScope, AgentId),
    /// The session of that agent.
    pub session: SessionDigest,
    /// The kind of the capability.
    pub kind: String,
    /// The sealed capability.
    pub sealed: Vec<u8>,
    /// The id of the tenant's data key that sealed it.
    pub key: DataKeyId,
    /// The time that the capability is valid.
    pub good_for: Duration,
}

/// A valid capability as the store has it, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCapability {
    /// The agent it was bound for.
    pub agent: AgentId,
    /// The bot that makes the call.
    pub bot: BotId,
    /// The chat where it applies.
    pub chat: String,
    /// The sealed capability.
    pub sealed: Vec<u8>,
    /// The id of the data key that sealed it.
    pub key: DataKeyId,
    /// That data key, wrapped.
    pub wrapped: WrappedKey,
}

/// Finds capabilities. The inbox's accept writes them.
#[async_trait]
pub trait CapabilityStore: Send + Sync {
    /// Returns the capability that is bound to exactly this session and has not expired.
    async fn capability(
        &self,
        lessee: &CapabilitySession<'_>,
    ) -> Result<Option<StoredCapability>, StoreError>;

    /// Returns the place where the capability of exactly this session applies. An expired capability's place is
    /// returned for [`CAPABILITY_PLACE_KEPT_FOR`](nightdesk_types::limits::CAPABILITY_PLACE_KEPT_FOR).
    async fn capability_place(
        &self,
        lessee: &CapabilitySession<'_>,
    ) -> Result<Option<(BotId, String)>, StoreError>;
}
