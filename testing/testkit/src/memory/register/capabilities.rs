//! Capabilities.

use async_trait::async_trait;
use nightdesk_inbox::Accept;
use nightdesk_register::{Lending, Lessee, StoredCapability};
use nightdesk_types::planted::{Bug, is_planted};
use nightdesk_types::{BotId, DataKeyId, StoreError, Timestamp};

use super::super::{Memory, State};

/// A capability's row, behind its agent, session and kind.
pub(in super::super) struct CapabilityRow {
    bot: BotId,
    chat: String,
    sealed: Vec<u8>,
    key: DataKeyId,
    expires_at: Timestamp,
}

impl State {
    /// Binds what was lent with an event that is stored.
    pub(in super::super) fn lend(&mut self, event: &Accept, now: Timestamp) {
        for bound in event.bound() {
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

#[async_trait]
impl Lending for Memory {
    async fn capability(
        &self,
        lessee: &Lessee<'_>,
    ) -> Result<Option<StoredCapability>, StoreError> {
        let (now, state) = (self.now(), self.lock());
        let is_anybodys = is_planted(Bug::CapabilityByTenant);
        let found = state.capabilities.iter().find(|(((scope, agent), session, kind), row)| {
            *scope == lessee.scope
                && (*agent == lessee.agent || is_anybodys)
                && (session, kind.as_str()) == (lessee.session.bytes(), lessee.kind)
                && row.expires_at > now
        });
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
