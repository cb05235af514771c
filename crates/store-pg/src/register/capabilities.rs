//! Reads capabilities. The accept writes them.

use async_trait::async_trait;
use nightdesk_register::{CapabilitySession, CapabilityStore, StoredCapability};
use nightdesk_types::limits::CAPABILITY_PLACE_KEPT_FOR;
use nightdesk_types::{AgentId, BotId, DataKeyId, StoreError};
use nightdesk_vault::WrappedKey;

use crate::Pg;

#[async_trait]
impl CapabilityStore for Pg {
    async fn capability(
        &self,
        lessee: &CapabilitySession<'_>,
    ) -> Result<Option<StoredCapability>, StoreError> {
        let CapabilitySession { scope, agent, session, kind } = *lessee;
        let kind = kind.to_owned();
        run_to_end!(self.for_tenant("find a capability", scope), |connection| {
            let row = sqlx::query!(
                "select c.agent_id, c.bot_id, c.chat_id, c.sealed, c.key_id, k.wrapped
                 from capabilities c
                     join tenant_keys k on k.tenant_id = c.tenant_id and k.key_id = c.key_id
                 where c.tenant_id = $1 and c.agent_id = $2 and c.session_sha256 = $3
                   and c.kind = $4 and c.expires_at > clock_timestamp()
                 order by c.bound_at desc
                 limit 1",
                scope.tenant().uuid(),
                agent.uuid(),
                session.bytes().as_slice(),
                kind
            )
            .fetch_optional(connection)
            .await?;
            Ok(row.map(|row| StoredCapability {
                agent: AgentId::from_uuid(row.agent_id),
                bot: BotId::from_uuid(row.bot_id),
                chat: row.chat_id,
                sealed: row.sealed,
                key: DataKeyId::new(row.key_id),
                wrapped: WrappedKey(row.wrapped),
            }))
        })
    }

    async fn capability_place(
        &self,
        lessee: &CapabilitySession<'_>,
    ) -> Result<Option<(BotId, String)>, StoreError> {
        let CapabilitySession { scope, agent, session, kind } = *lessee;
        let kind = kind.to_owned();
        run_to_end!(self.for_tenant("find the chat of a capability", scope), |connection| {
            let row = sqlx::query!(
                "select c.bot_id, c.chat_id from capabilities c
                 where c.tenant_id = $1 and c.agent_id = $2 and c.session_sha256 = $3
                   and c.kind = $4
                   and c.expires_at > clock_timestamp() - make_interval(secs => $5)
                 order by c.bound_at desc
                 limit 1",
                scope.tenant().uuid(),
                agent.uuid(),
                session.bytes().as_slice(),
                kind,
                CAPABILITY_PLACE_KEPT_FOR.as_secs_f64()
            )
            .fetch_optional(connection)
            .await?;
            Ok(row.map(|row| (BotId::from_uuid(row.bot_id), row.chat_id)))
        })
    }
}
