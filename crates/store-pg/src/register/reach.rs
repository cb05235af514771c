//! The store of agents' reach. Triggers record every change.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::{AgentOnBot, Reaching};
use nightdesk_types::reach::EVERY_CHAT;
use nightdesk_types::{
    AgentId, ClientRules, GrantTarget, Principal, Relevance, StoreError, TenantScope,
};
use serde_json::json;

use super::audit::record_act;
use crate::Pg;

#[async_trait]
impl Reaching for Pg {
    async fn bind(&self, on: AgentOnBot, author: &str) -> Result<(), StoreError> {
        let author = author.to_owned();
        run_to_end!(self.for_tenant("bind an author", on.scope), |connection| {
            sqlx::query!(
                "insert into bindings (tenant_id, bot_id, author_id, agent_id)
                 values ($1, $2, $3, $4) on conflict do nothing",
                on.scope.tenant().uuid(),
                on.bot.uuid(),
                author,
                on.agent.uuid()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn unbind(&self, on: AgentOnBot, author: &str) -> Result<(), StoreError> {
        let author = author.to_owned();
        run_to_end!(self.for_tenant("unbind an author", on.scope), |connection| {
            sqlx::query!(
                "delete from bindings
                 where tenant_id = $1 and bot_id = $2 and author_id = $3 and agent_id = $4",
                on.scope.tenant().uuid(),
                on.bot.uuid(),
                author,
                on.agent.uuid()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn prefer(&self, on: AgentOnBot, author: &str) -> Result<bool, StoreError> {
        let author = author.to_owned();
        run_to_end!(self.for_tenant("prefer an agent", on.scope), |connection| {
            let preferred = sqlx::query!(
                "update bindings set preferred_at = clock_timestamp()
                 where tenant_id = $1 and bot_id = $2 and author_id = $3 and agent_id = $4",
                on.scope.tenant().uuid(),
                on.bot.uuid(),
                author,
                on.agent.uuid()
            )
            .execute(connection)
            .await?;
            Ok(preferred.rows_affected() == 1)
        })
    }

    async fn grant(
        &self,
        on: AgentOnBot,
        granted: &GrantTarget,
        principal: Option<Principal>,
    ) -> Result<bool, StoreError> {
        let (scope_id, chat) = grant_columns(granted);
        run_to_end!(self.for_tenant("grant a chat", on.scope), |connection| {
            let granted = sqlx::query!(
                "insert into scope_grants
                     (tenant_id, bot_id, scope_id, chat_id, agent_id, principal)
                 values ($1, $2, $3, $4, $5, coalesce($6, (
                     select principal from agents where tenant_id = $1 and agent_id = $5
                 )))
                 on conflict do nothing",
                on.scope.tenant().uuid(),
                on.bot.uuid(),
                scope_id,
                chat,
                on.agent.uuid(),
                principal.map(Principal::slug)
            )
            .execute(connection)
            .await?;
            Ok(granted.rows_affected() == 1)
        })
    }

    async fn allow_moderation(
        &self,
        on: AgentOnBot,
        granted: &GrantTarget,
    ) -> Result<bool, StoreError> {
        let (scope_id, chat) = grant_columns(granted);
        run_to_end!(self.for_tenant("allow moderation", on.scope), |connection| {
            let allowed = sqlx::query!(
                "update scope_grants set is_moderator = true
                 where tenant_id = $1 and bot_id = $2 and scope_id = $3 and chat_id = $4
                   and agent_id = $5",
                on.scope.tenant().uuid(),
                on.bot.uuid(),
                scope_id,
                chat,
                on.agent.uuid()
            )
            .execute(connection)
            .await?;
            Ok(allowed.rows_affected() == 1)
        })
    }

    async fn release(&self, on: AgentOnBot, granted: &GrantTarget) -> Result<bool, StoreError> {
        let (scope_id, chat) = grant_columns(granted);
        run_to_end!(self.for_tenant("release a grant", on.scope), |connection| {
            let released = sqlx::query!(
                "delete from scope_grants
                 where tenant_id = $1 and bot_id = $2 and scope_id = $3 and chat_id = $4
                   and agent_id = $5",
                on.scope.tenant().uuid(),
                on.bot.uuid(),
                scope_id,
                chat,
                on.agent.uuid()
            )
            .execute(connection)
            .await?;
            Ok(released.rows_affected() == 1)
        })
    }

    async fn open_to(
        &self,
        scope: TenantScope,
        agent: AgentId,
        principal: Principal,
    ) -> Result<(), StoreError> {
        run_to_end!(self.for_tenant("set the principal of an agent", scope), |connection| {
            sqlx::query!(
                "with own as (
                     update agents set principal = $3 where tenant_id = $1 and agent_id = $2
                 )
                 update scope_grants set principal = $3
                 where tenant_id = $1 and agent_id = $2 and principal <> $3",
                scope.tenant().uuid(),
                agent.uuid(),
                principal.slug()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn list(&self, on: AgentOnBot, authors: &[String]) -> Result<(), StoreError> {
        let authors = authors.to_vec();
        run_to_end!(self.for_tenant("replace an agent's list", on.scope), |connection| {
            sqlx::query!(
                "with gone as (
                     delete from listed_authors
                     where tenant_id = $1 and agent_id = $2 and bot_id = $3
                       and not author_id = any ($4)
                 )
                 insert into listed_authors (tenant_id, agent_id, bot_id, author_id)
                 select $1, $2, $3, author from unnest($4::text[]) as l (author)
                 on conflict do nothing",
                on.scope.tenant().uuid(),
                on.agent.uuid(),
                on.bot.uuid(),
                &authors
            )
            .execute(&mut *connection)
            .await?;
            let about = json!({ "agent_id": on.agent, "bot_id": on.bot });
            record_act(connection, on.scope, Kind::ListReplaced, about).await
        })
    }

    async fn follow_rules(
        &self,
        scope: TenantScope,
        agent: AgentId,
        rules: ClientRules,
    ) -> Result<(), StoreError> {
        run_to_end!(self.for_tenant("note the rules of a client", scope), |connection| {
            sqlx::query!(
                "update agents set client_rules = $3
                 where tenant_id = $1 and agent_id = $2 and client_rules <> $3",
                scope.tenant().uuid(),
                agent.uuid(),
                rules.slug()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn declare(
        &self,
        scope: TenantScope,
        agent: AgentId,
        platform: &str,
        relevance: &Relevance,
    ) -> Result<(), StoreError> {
        let (platform, relevance) = (platform.to_owned(), relevance.clone());
        run_to_end!(self.for_tenant("set the relevance policy of an agent", scope), |connection| {
            sqlx::query!(
                "insert into relevance_policies as r (tenant_id, agent_id, platform,
                     require_address, free_scopes, allow_other_bots)
                 values ($1, $2, $3, $4, $5, $6)
                 on conflict (tenant_id, agent_id, platform) do update
                 set require_address = excluded.require_address,
                     free_scopes = excluded.free_scopes,
                     allow_other_bots = excluded.allow_other_bots,
                     declared_at = excluded.declared_at
                 where (r.require_address, r.free_scopes, r.allow_other_bots)
                     is distinct from (excluded.require_address, excluded.free_scopes,
                         excluded.allow_other_bots)",
                scope.tenant().uuid(),
                agent.uuid(),
                platform,
                relevance.require_address,
                &relevance.free_scopes,
                relevance.allow_other_bots
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }
}

/// Returns the scope and the chat of a grant as its row has them.
fn grant_columns(granted: &GrantTarget) -> (String, String) {
    match granted {
        GrantTarget::Chat { chat, scope } => (scope.clone().unwrap_or_default(), chat.clone()),
        GrantTarget::Scope(scope) => (scope.clone(), EVERY_CHAT.to_owned()),
        GrantTarget::Bot => (String::new(), EVERY_CHAT.to_owned()),
    }
}
