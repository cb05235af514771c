//! The gate's store.

mod reach;

use async_trait::async_trait;
use nightdesk_gate::bot_reach::ScopedAgent;
use nightdesk_gate::{
    BotMessage, BotPrompt, Reach, ReachChange, Refusal, RefusalNote, Store, StoredRefusal,
};
use nightdesk_types::limits::{REACHED_DAYS, REFUSALS_KEPT_MAX};
use nightdesk_types::{AgentId, BotId, StoreError, TenantId, TenantScope};
use uuid::Uuid;

use crate::Pg;
use crate::row::bad_column;

#[async_trait]
impl Store for Pg {
    async fn read_changes(
        &self,
        bot: BotId,
        since: Option<i64>,
    ) -> Result<ReachChange, StoreError> {
        run_to_end!(self.single("read the reach of a bot"), |connection| {
            reach::read_changes(connection, bot, since).await
        })
    }

    async fn changed_bots(&self, bots: &[(BotId, i64)]) -> Result<Vec<BotId>, StoreError> {
        let (bots, versions): (Vec<Uuid>, Vec<i64>) =
            bots.iter().map(|(bot, version)| (bot.uuid(), *version)).unzip();
        run_to_end!(self.single("read changes of reach"), |connection| {
            let changed = sqlx::query_scalar!(
                r#"select bot_id as "bot!" from door_changed($1, $2)"#,
                &bots,
                &versions
            )
            .fetch_all(connection)
            .await?;
            Ok(changed.into_iter().map(BotId::from_uuid).collect())
        })
    }

    async fn find_reaches(
        &self,
        scope: TenantScope,
        agent: AgentId,
        chat: &str,
    ) -> Result<Vec<Reach>, StoreError> {
        let chat = chat.to_owned();
        run_to_end!(self.single("read where an agent may write"), |connection| {
            let rows = sqlx::query!(
                r#"select bot_id as "bot!", platform as "platform!", handle as "handle!", speaks_as,
                       is_moderator as "is_moderator!"
                   from door_reaches($1, $2, $3, make_interval(days => $4))"#,
                scope.tenant().uuid(),
                agent.uuid(),
                chat,
                REACHED_DAYS
            )
            .fetch_all(connection)
            .await?;
            let reaches = rows.into_iter().map(|row| Reach {
                bot: BotId::from_uuid(row.bot),
                platform: row.platform,
                handle: row.handle,
                speaks_as: row.speaks_as,
                is_moderator: row.is_moderator,
            });
            Ok(reaches.collect())
        })
    }

    async fn takes_part(
        &self,
        scope: TenantScope,
        agent: AgentId,
        bot: BotId,
        chat: &str,
    ) -> Result<bool, StoreError> {
        let chat = chat.to_owned();
        run_to_end!(self.for_tenant("look for an agent in a thread", scope), |connection| {
            sqlx::query_scalar!(
                r#"select exists (
                       select from reached
                       where tenant_id = $1 and agent_id = $2 and chat_id = $3 and bot_id = $4
                         and at > now() - make_interval(days => $5)
                   ) as "takes_part!""#,
                scope.tenant().uuid(),
                agent.uuid(),
                chat,
                bot.uuid(),
                REACHED_DAYS
            )
            .fetch_one(connection)
            .await
        })
    }

    async fn record_prompt(
        &self,
        scope: TenantScope,
        agent: AgentId,
        BotPrompt { bot, id }: BotPrompt<'_>,
    ) -> Result<bool, StoreError> {
        let id = id.to_owned();
        run_to_end!(self.for_tenant("store the agent of a prompt", scope), |connection| {
            sqlx::query_scalar!(
                r#"select prompt_ask($1, $2, $3, $4) as "asked!""#,
                scope.tenant().uuid(),
                agent.uuid(),
                bot.uuid(),
                id
            )
            .fetch_one(connection)
            .await
        })
    }

    async fn find_prompt_agent(
        &self,
        BotPrompt { bot, id }: BotPrompt<'_>,
    ) -> Result<Option<ScopedAgent>, StoreError> {
        let id = id.to_owned();
        run_to_end!(self.single("find the agent of a prompt"), |connection| {
            let row = sqlx::query!(
                r#"select tenant_id as "tenant!", agent_id as "agent!" from door_asker($1, $2)"#,
                bot.uuid(),
                id
            )
            .fetch_optional(connection)
            .await?;
            let tenant = |id| TenantScope::for_tenant(TenantId::from_uuid(id));
            Ok(row.map(|row| (tenant(row.tenant), AgentId::from_uuid(row.agent))))
        })
    }

    async fn find_message_sender(
        &self,
        message: &BotMessage,
    ) -> Result<Option<ScopedAgent>, StoreError> {
        let BotMessage { bot, chat, id } = message.clone();
        run_to_end!(self.single("find the sender of a message"), |connection| {
            let row = sqlx::query!(
                r#"select tenant_id as "tenant!", agent_id as "agent!"
                   from door_message_sender($1, $2, $3)"#,
                bot.uuid(),
                chat,
                id
            )
            .fetch_optional(connection)
            .await?;
            let tenant = |id| TenantScope::for_tenant(TenantId::from_uuid(id));
            Ok(row.map(|row| (tenant(row.tenant), AgentId::from_uuid(row.agent))))
        })
    }

    async fn read_refusals(
        &self,
        scope: TenantScope,
        event_key: &str,
    ) -> Result<Vec<StoredRefusal>, StoreError> {
        let event_key = event_key.to_owned();
        run_to_end!(self.for_tenant("read refusals", scope), |connection| {
            let rows = sqlx::query!(
                r#"select at as "at: jiff_sqlx::Timestamp", bot_id, agent_id, reason
                   from refusals where tenant_id = $1 and event_key = $2
                   order by number desc"#,
                scope.tenant().uuid(),
                event_key
            )
            .fetch_all(connection)
            .await?;
            let kept = rows.into_iter().map(|row| {
                let refusal = Refusal::from_slug(&row.reason);
                let note = RefusalNote {
                    scope,
                    bot: BotId::from_uuid(row.bot_id),
                    event_key: event_key.clone(),
                    agent: row.agent_id.map(AgentId::from_uuid),
                    refusal: refusal.ok_or_else(|| bad_column("refusals", "reason"))?,
                };
                Ok(StoredRefusal { at: row.at.to_jiff(), note })
            });
            kept.collect()
        })
    }

    async fn note_refusals(&self, notes: &[RefusalNote]) -> Result<(), StoreError> {
        let mut by_tenant: Vec<RefusalNote> = notes.to_vec();
        by_tenant.sort_by_key(|note| note.scope);
        for notes in by_tenant.chunk_by(|one, other| one.scope == other.scope) {
            self.note_tenant_refusals(notes[0].scope, notes).await?;
        }
        Ok(())
    }
}

impl Pg {
    async fn note_tenant_refusals(
        &self,
        scope: TenantScope,
        notes: &[RefusalNote],
    ) -> Result<(), StoreError> {
        let bots: Vec<Uuid> = notes.iter().map(|note| note.bot.uuid()).collect();
        let keys: Vec<String> = notes.iter().map(|note| note.event_key.clone()).collect();
        let agents: Vec<Option<Uuid>> =
            notes.iter().map(|note| note.agent.map(AgentId::uuid)).collect();
        let reasons: Vec<String> =
            notes.iter().map(|note| note.refusal.slug().to_owned()).collect();
        run_to_end!(self.for_tenant("note refusals", scope), |connection| {
            // If a batch is longer than the ring, its slots collide; only the last round is written.
            sqlx::query!(
                "with notes as (
                     select * from unnest($2::uuid[], $3::text[], $4::text[], $6::uuid[])
                         with ordinality as n (bot, key, reason, agent, o)
                 ), head as (
                     insert into refusal_heads as h (tenant_id, next_number)
                     values ($1, (select count(*) from notes))
                     on conflict (tenant_id) do update
                     set next_number = h.next_number + excluded.next_number
                     returning h.next_number - (select count(*) from notes) as base
                 )
                 insert into refusals as r
                     (tenant_id, slot, number, bot_id, event_key, reason, agent_id)
                 select $1, (head.base + n.o) % $5, head.base + n.o, n.bot, n.key, n.reason,
                     n.agent
                 from notes n, head
                 where n.o > (select count(*) from notes) - $5
                 on conflict (tenant_id, slot) do update
                 set number = excluded.number, at = excluded.at, bot_id = excluded.bot_id,
                     event_key = excluded.event_key, reason = excluded.reason,
                     agent_id = excluded.agent_id",
                scope.tenant().uuid(),
                &bots,
                &keys,
                &reasons,
                REFUSALS_KEPT_MAX,
                &agents as &[Option<Uuid>]
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }
}
