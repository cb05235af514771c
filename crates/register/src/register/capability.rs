//! Seals capabilities for a session, and opens them for a call.

use aws_lc_rs::digest::{Context, SHA256};
use nightdesk_port::Capability;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_types::limits::CAPABILITY_GOOD_FOR_MAX;
use nightdesk_types::{AgentId, BotId, TenantScope};
use nightdesk_vault::{Key, SealPlace, kind};
use uuid::Uuid;

use super::Register;
use crate::capability::{CapabilityPlace, CapabilitySession, SealedCapability, SessionDigest};
use crate::error::RegisterError;

impl Register {
    /// Seals a capability for an agent, under every name that its session may have.
    pub async fn bind(
        &self,
        scope: TenantScope,
        agent: AgentId,
        at: CapabilityPlace<'_>,
        sessions: &[SessionKey],
        capability: &Capability,
    ) -> Result<Vec<SealedCapability>, RegisterError> {
        let (key, data_key) = self.data_key(scope).await?;
        let good_for = capability.good_for.min(CAPABILITY_GOOD_FOR_MAX);
        let seal = |session: &SessionKey| {
            let session = SessionDigest::from_key(session.as_str());
            let lessee = CapabilitySession { scope, agent, session, kind: &capability.kind };
            let sealed = data_key.seal(&seal_place(&lessee, agent, at), &capability.secret);
            let (agent, kind) = ((scope, agent), capability.kind.clone());
            SealedCapability { agent, session, kind, sealed, key, good_for }
        };
        Ok(sessions.iter().map(seal).collect())
    }

    /// Returns the place where a session's capability applies, also for a while after it expired.
    pub async fn find_capability_place(
        &self,
        lessee: &CapabilitySession<'_>,
    ) -> Result<Option<(BotId, String)>, RegisterError> {
        Ok(self.store().capability_place(lessee).await?)
    }

    /// Returns the capability that is bound to a session and applies at that place.
    pub async fn find_capability(
        &self,
        lessee: &CapabilitySession<'_>,
        at: CapabilityPlace<'_>,
    ) -> Result<Option<Key>, RegisterError> {
        let Some(stored) = self.store().capability(lessee).await? else { return Ok(None) };
        if (CapabilityPlace { bot: stored.bot, chat: &stored.chat }) != at {
            return Ok(None);
        }
        let data_key = self.unwrap(lessee.scope, stored.key, &stored.wrapped)?;
        Ok(Some(data_key.open(&seal_place(lessee, stored.agent, at), &stored.sealed)?))
    }
}

/// Returns the digest of everything that a capability is bound to, except the tenant.
fn seal_place(
    lessee: &CapabilitySession<'_>,
    agent: AgentId,
    at: CapabilityPlace<'_>,
) -> SealPlace {
    let mut bound = Context::new(&SHA256);
    bound.update(agent.uuid().as_bytes());
    bound.update(at.bot.uuid().as_bytes());
    bound.update(lessee.session.bytes());
    // Two texts follow each other, so the length of the first is hashed too.
    bound.update(&lessee.kind.len().to_be_bytes());
    bound.update(lessee.kind.as_bytes());
    bound.update(at.chat.as_bytes());
    let mut row = [0; 16];
    row.copy_from_slice(&bound.finish().as_ref()[..16]);
    SealPlace { tenant: lessee.scope.tenant(), kind: kind::CAPABILITY, row: Uuid::from_bytes(row) }
}
