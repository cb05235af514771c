//! The people and chats that reach a tenant's agents.

use async_trait::async_trait;
use nightdesk_office::{BindingKey, GrantKey, ReachReads, TenantBinding, TenantGrant};
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{AgentId, BotId, Principal, StoreError, TenantScope};

use crate::Pg;
use crate::row::bad_column;

#[async_trait]
impl ReachReads for Pg {
    async fn tenant_bindings(
        &self,
        scope: TenantScope,
        after: Option<&BindingKey>,
    ) -> Result<Vec<TenantBinding>, StoreError> {
        let after = after.map(|key| (key.bot.uuid(), key.author.clone(), key.agent.uuid()));
        let (bot, author, agent) = after.unwrap_or_default();
        run_to_end!(self.for_tenant("list bindings", scope), |connection| {
            let rows = sqlx::query!(
                r#"select b.bot_id as "bot_id!", b.author_id as "author_id!",
                       b.agent_id as "agent_id!", a.name as "agent_name!"
                   from (
                       select b.bot_id, b.author_id, b.agent_id from bindings b
                       where b.tenant_id = $1 and (b.bot_id, b.author_id, b.agent_id) > ($2, $3, $4)
                       order by b.bot_id, b.author_id, b.agent_id limit $5
                   ) as b
                       join agents a on a.tenant_id = $1 and a.agent_id = b.agent_id
                   order by b.bot_id, b.author_id, b.agent_id"#,
                scope.tenant().uuid(),
                bot,
                author,
                agent,
                LIST_ROWS_MAX
            )
            .fetch_all(connection)
            .await?;
            let bindings = rows.into_iter().map(|row| TenantBinding {
                key: BindingKey {
                    bot: BotId::from_uuid(row.bot_id),
                    author: row.author_id,
                    agent: AgentId::from_uuid(row.agent_id),
                },
                agent_name: row.agent_name,
            });
            Ok(bindings.collect())
        })
    }

    async fn tenant_grants(
        &self,
        scope: TenantScope,
        after: Option<&GrantKey>,
    ) -> Result<Vec<TenantGrant>, StoreError> {
        let after = after.map(|key| (key.bot.uuid(), key.scope.clone(), key.chat.clone()));
        let (bot, scope_id, chat) = after.unwrap_or_default();
        run_to_end!(self.for_tenant("list grants", scope), |connection| {
            let rows = sqlx::query!(
                r#"select g.bot_id as "bot_id!", g.scope_id as "scope_id!", g.chat_id as "chat_id!",
                       g.agent_id as "agent_id!", a.name as "agent_name!",
                       g.principal as "principal!", g.is_moderator as "is_moderator!"
                   from (
                       select g.bot_id, g.scope_id, g.chat_id, g.agent_id, g.principal,
                           g.is_moderator
                       from scope_grants g
                       where g.tenant_id = $1 and (g.bot_id, g.scope_id, g.chat_id) > ($2, $3, $4)
                       order by g.bot_id, g.scope_id, g.chat_id limit $5
                   ) as g
                       join agents a on a.tenant_id = $1 and a.agent_id = g.agent_id
                   order by g.bot_id, g.scope_id, g.chat_id"#,
                scope.tenant().uuid(),
                bot,
                scope_id,
                chat,
                LIST_ROWS_MAX
            )
            .fetch_all(connection)
            .await?;
            let grants = rows.into_iter().map(|row| {
                let open_to = Principal::from_slug(&row.principal);
                Ok(TenantGrant {
                    key: GrantKey {
                        bot: BotId::from_uuid(row.bot_id),
                        scope: row.scope_id,
                        chat: row.chat_id,
                    },
                    agent: AgentId::from_uuid(row.agent_id),
                    agent_name: row.agent_name,
                    open_to: open_to.ok_or_else(|| bad_column("scope_grants", "principal"))?,
                    is_moderator: row.is_moderator,
                })
            });
            grants.collect()
        })
    }
}
