//! Implements capabilities.

use async_trait::async_trait;
use nightdesk_inbox::AcceptRequest;
use nightdesk_register::{CapabilitySession, CapabilityStore, StoredCapability};
use nightdesk_types::limits::CAPABILITY_PLACE_KEPT_FOR;
use nightdesk_types::{AgentId, BotId, DataKeyId, StoreError, TenantScope, Timestamp};

use super::super::{Memory, State};

/// A capability's row, keyed by its agent, session and kind.
pub(in super::super) struct CapabilityRow {
    bot: BotId,
    chat: String,
    sealed: Vec<u8>,
    key: DataKeyId,
    expires_at: Timestamp,
}

impl State {
    /// Stores the capabilities that were lent with a stored event.
    pub(in super::super) fn lend(&mut self, event: &AcceptRequest, now: Timestamp) {
        for bound in event.capabilities() {
            let row = CapabilityRow {
                bot: event.bot(),
                chat: event.chat_id().to_owned(),
                sealed: bound.sealed.clone(),
                key: bound.key,
                expires_at: now.checked_add(bound.good_for).unwrap_or(Timestamp::MAX),
            };
            self.capabilities.insert((bound.agent, bound.session, bound.kind.clone()), row);
        }
    }
}

/// The key of a capability's row.
pub(in super::super) type CapabilityKey = ((TenantScope, AgentId), [u8; 32], String);

/// Returns the row of a session's capability, if it had not expired at that time.
fn found<'s>(
    state: &'s State,
    lessee: &CapabilitySession<'_>,
    then: Timestamp,
) -> Option<(&'s CapabilityKey, &'s CapabilityRow)> {
    state.capabilities.iter().find(|(((scope, agent), session, kind), row)| {
        *scope == lessee.scope
            && *agent == lessee.agent
            && (session, kind.as_str()) == (lessee.session.bytes(), lessee.kind)
            && row.expires_at > then
    })
}

#[async_trait]
impl CapabilityStore for Memory {
    async fn capability_place(
        &self,
        lessee: &CapabilitySession<'_>,
    ) -> Result<Option<(BotId, String)>, StoreError> {
        let then = self.now().checked_sub(CAPABILITY_PLACE_KEPT_FOR).unwrap_or(Timestamp::MIN);
        let state = self.lock();
        Ok(found(&state, lessee, then).map(|(_, row)| (row.bot, row.chat.clone())))
    }

    async fn capability(
        &self,
        lessee: &CapabilitySession<'_>,
    ) -> Result<Option<StoredCapability>, StoreError> {
        let (now, state) = (self.now(), self.lock());
        let found = found(&state, lessee, now);
        Ok(found.and_then(|(((scope, agent), _, _), row)| {
            Some(StoredCapability {
                agent: *agent,
                bot: row.bot,
                chat: row.chat.clone(),
                sealed: row.sealed.clone(),
                key: row.key,
                wrapped: state.wrapped(*scope, row.key)?.clone(),
            })
        }))
    }
}
