//! Capabilities: what a platform lent us for one session of one agent.
//!
//! Sealed for the tenant, agent, session, kind, bot and chat it was lent for, so that a row moved
//! anywhere else does not open. Only the agent it was bound for can have it used, and it never sees it.

use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::digest::{Context, SHA256, digest};
use nightdesk_port::Capability;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_types::limits::CAPABILITY_GOOD_FOR_MAX;
use nightdesk_types::{AgentId, BotId, DataKeyId, StoreError, TenantScope};
use nightdesk_vault::{Key, Place, WrappedKey, kind};
use uuid::Uuid;

use crate::register::{Register, RegisterError};

/// A session's name, in a fixed number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionDigest([u8; 32]);

impl SessionDigest {
    /// The digest of a session's name.
    pub fn of(session_key: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, session_key.as_bytes()).as_ref());
        Self(bytes)
    }

    /// The bytes, as the store keeps them.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Whose session a capability is bound for.
#[derive(Clone, Copy, Debug)]
pub struct Lessee<'a> {
    /// For whom.
    pub scope: TenantScope,
    /// Which agent.
    pub agent: AgentId,
    /// Which session, by name.
    pub session: SessionDigest,
    /// Which capability.
    pub kind: &'a str,
}

/// Where a capability acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Where<'a> {
    /// As which bot.
    pub bot: BotId,
    /// In which chat.
    pub chat: &'a str,
}

/// A capability sealed for one session, ready to be written.
#[derive(Clone, Debug)]
pub struct SealedCapability {
    /// For which agent.
    pub agent: (TenantScope, AgentId),
    /// For which of its sessions.
    pub session: SessionDigest,
    /// Which one.
    pub kind: String,
    /// The sealed capability.
    pub sealed: Vec<u8>,
    /// Which of the tenant's data keys sealed it.
    pub key: DataKeyId,
    /// For how long it is good.
    pub good_for: Duration,
}

/// A live capability as the store has it, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCapability {
    /// The agent it was bound for.
    pub agent: AgentId,
    /// As which bot it acts, ...
    pub bot: BotId,
    /// ... and in which chat.
    pub chat: String,
    /// The sealed capability.
    pub sealed: Vec<u8>,
    /// Which data key sealed it, ...
    pub key: DataKeyId,
    /// ... and that key.
    pub wrapped: WrappedKey,
}

/// Finds capabilities. The inbox's accept writes them.
#[async_trait]
pub trait Lending: Send + Sync {
    /// The capability that is bound for this very session and has not ended.
    async fn capability(&self, lessee: &Lessee<'_>)
    -> Result<Option<StoredCapability>, StoreError>;

    /// Where the capability acts that is bound for this very session, or acted until it ended, for
    /// [`CAPABILITY_PLACE_KEPT_FOR`](nightdesk_types::limits::CAPABILITY_PLACE_KEPT_FOR).
    async fn place(&self, lessee: &Lessee<'_>) -> Result<Option<(BotId, String)>, StoreError>;
}

impl Register {
    /// Seals a capability for an agent, under every name its session may have.
    pub async fn bind(
        &self,
        (scope, agent): (TenantScope, AgentId),
        at: Where<'_>,
        sessions: &[SessionKey],
        capability: &Capability,
    ) -> Result<Vec<SealedCapability>, RegisterError> {
        let (key, data_key) = self.data_key(scope).await?;
        let good_for = capability.good_for.min(CAPABILITY_GOOD_FOR_MAX);
        let seal = |session: &SessionKey| {
            let session = SessionDigest::of(session.as_str());
            let lessee = Lessee { scope, agent, session, kind: &capability.kind };
            let sealed = data_key.seal(&place(&lessee, agent, at), &capability.secret);
            let (agent, kind) = ((scope, agent), capability.kind.clone());
            SealedCapability { agent, session, kind, sealed, key, good_for }
        };
        Ok(sessions.iter().map(seal).collect())
    }

    /// Where the capability acts that is bound for a session, or acted until lately, if there is one.
    pub async fn bound(
        &self,
        lessee: &Lessee<'_>,
    ) -> Result<Option<(BotId, String)>, RegisterError> {
        Ok(self.store().place(lessee).await?)
    }

    /// The capability that is bound for a session and acts there, if there is one.
    pub async fn lent(
        &self,
        lessee: &Lessee<'_>,
        at: Where<'_>,
    ) -> Result<Option<Key>, RegisterError> {
        let Some(stored) = self.store().capability(lessee).await? else { return Ok(None) };
        if (Where { bot: stored.bot, chat: &stored.chat }) != at {
            return Ok(None);
        }
        let data_key = self.unwrap(lessee.scope, stored.key, &stored.wrapped)?;
        Ok(Some(data_key.open(&place(lessee, stored.agent, at), &stored.sealed)?))
    }
}

/// All that a capability is bound to, the tenant apart.
fn place(lessee: &Lessee<'_>, agent: AgentId, at: Where<'_>) -> Place {
    let mut bound = Context::new(&SHA256);
    bound.update(agent.uuid().as_bytes());
    bound.update(at.bot.uuid().as_bytes());
    bound.update(lessee.session.bytes());
    // Both are texts: how long the first is, is part of it.
    bound.update(&lessee.kind.len().to_be_bytes());
    bound.update(lessee.kind.as_bytes());
    bound.update(at.chat.as_bytes());
    let mut row = [0; 16];
    row.copy_from_slice(&bound.finish().as_ref()[..16]);
    Place { tenant: lessee.scope.tenant(), kind: kind::CAPABILITY, row: Uuid::from_bytes(row) }
}
