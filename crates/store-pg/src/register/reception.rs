//! The store of the bots' reception state.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::{BotReception, Gap, Outage, ReceptionStore};
use nightdesk_types::limits::{
    GAP_CHATS_MAX, LIST_ROWS_MAX, NOTICES_KEPT_MAX, REACHED_DAYS, SESSIONS_BEGUN_MAX,
    SESSIONS_BEGUN_TOLD,
};
use nightdesk_types::{BotId, StoreError, TenantScope};

use crate::Pg;

#[async_trait]
impl ReceptionStore for Pg {
    async fn record_reception(
        &self,
        scope: TenantScope,
        bot: BotId,
        kept: Duration,
        lost: &str,
    ) -> Result<(), StoreError> {
        let lost = lost.to_owned();
        run_to_end!(self.for_tenant("note that a bot receives events", scope), |connection| {
            sqlx::query!(
                "select bot_heard($1, $2, make_interval(secs => $3), $4, $5)",
                scope.tenant().uuid(),
                bot.uuid(),
                kept.as_secs_f64(),
                lost,
                NOTICES_KEPT_MAX
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn record_outage(
        &self,
        scope: TenantScope,
        bot: BotId,
        why: &str,
        deaf_after: Duration,
    ) -> Result<bool, StoreError> {
        let why = why.to_owned();
        run_to_end!(self.for_tenant("note that a bot receives no events", scope), |connection| {
            sqlx::query_scalar!(
                r#"select bot_unheard($1, $2, $3, make_interval(secs => $4), $5) as "told!""#,
                scope.tenant().uuid(),
                bot.uuid(),
                why,
                deaf_after.as_secs_f64(),
                NOTICES_KEPT_MAX
            )
            .fetch_one(connection)
            .await
        })
    }

    async fn record_message(&self, scope: TenantScope, bot: BotId) -> Result<(), StoreError> {
        run_to_end!(self.for_tenant("note that a bot received a message", scope), |connection| {
            sqlx::query!(
                "insert into bot_hearings (tenant_id, bot_id, said_at)
                 select b.tenant_id, b.bot_id, clock_timestamp() from bots b
                 where b.tenant_id = $1 and b.bot_id = $2
                 on conflict (tenant_id, bot_id) do update set said_at = excluded.said_at",
                scope.tenant().uuid(),
                bot.uuid()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn record_gap(
        &self,
        scope: TenantScope,
        bot: BotId,
        words: &str,
    ) -> Result<Gap, StoreError> {
        let words = words.to_owned();
        run_to_end!(self.for_tenant("note that messages may be missing", scope), |connection| {
            let since = sqlx::query_scalar!(
                r#"select bot_missed($1, $2, $3, $4) as "since: jiff_sqlx::Timestamp""#,
                scope.tenant().uuid(),
                bot.uuid(),
                words,
                NOTICES_KEPT_MAX
            )
            .fetch_one(&mut *connection)
            .await?;
            let chats = sqlx::query_scalar!(
                r#"select chat_id as "chat!"
                   from door_chats_of($1, $2, make_interval(days => $3), $4)"#,
                scope.tenant().uuid(),
                bot.uuid(),
                REACHED_DAYS,
                GAP_CHATS_MAX
            )
            .fetch_all(connection)
            .await?;
            Ok(Gap { since: since.map(jiff_sqlx::Timestamp::to_jiff), chats })
        })
    }

    async fn begin(&self, scope: TenantScope, bot: BotId) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("count a bot's sessions", scope), |connection| {
            sqlx::query_scalar!(
                r#"select bot_begins($1, $2, $3, $4, $5, $6) as "begins!""#,
                scope.tenant().uuid(),
                bot.uuid(),
                SESSIONS_BEGUN_TOLD,
                SESSIONS_BEGUN_MAX,
                format!("{SESSIONS_BEGUN_TOLD} sessions were begun in a day"),
                NOTICES_KEPT_MAX
            )
            .fetch_one(connection)
            .await
        })
    }

    async fn receptions(&self, scope: TenantScope) -> Result<Vec<BotReception>, StoreError> {
        run_to_end!(self.for_tenant("read the listening state of bots", scope), |connection| {
            let rows = sqlx::query!(
                r#"select bot_id, heard_at as "heard_at: jiff_sqlx::Timestamp",
                       said_at as "said_at: jiff_sqlx::Timestamp",
                       unheard_since as "unheard_since: jiff_sqlx::Timestamp", why,
                       told_at is not null as "is_told!"
                   from bot_hearings where tenant_id = $1 order by bot_id limit $2"#,
                scope.tenant().uuid(),
                LIST_ROWS_MAX
            )
            .fetch_all(connection)
            .await?;
            let hearings = rows.into_iter().map(|row| BotReception {
                bot: BotId::from_uuid(row.bot_id),
                heard_at: row.heard_at.map(jiff_sqlx::Timestamp::to_jiff),
                said_at: row.said_at.map(jiff_sqlx::Timestamp::to_jiff),
                outage: row.unheard_since.zip(row.why).map(|(since, why)| Outage {
                    since: since.to_jiff(),
                    why,
                    is_told: row.is_told,
                }),
            });
            Ok(hearings.collect())
        })
    }
}
