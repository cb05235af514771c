//! How well bots hear.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::{Hearing, Hearings, Silence};
use nightdesk_types::limits::{LIST_ROWS_MAX, NOTICES_KEPT_MAX};
use nightdesk_types::{BotId, StoreError, TenantScope};

use crate::Pg;

#[async_trait]
impl Hearings for Pg {
    async fn heard(
        &self,
        scope: TenantScope,
        bot: BotId,
        kept: Duration,
        lost: &str,
    ) -> Result<(), StoreError> {
        let lost = lost.to_owned();
        self.scoped("note that a bot hears", scope, move |connection| {
            Box::pin(async move {
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
        })
        .await
    }

    async fn unheard(
        &self,
        scope: TenantScope,
        bot: BotId,
        why: &str,
        deaf_after: Duration,
    ) -> Result<bool, StoreError> {
        let why = why.to_owned();
        self.scoped("note that a bot hears nothing", scope, move |connection| {
            Box::pin(async move {
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
        })
        .await
    }

    async fn said(&self, scope: TenantScope, bot: BotId) -> Result<(), StoreError> {
        self.scoped("note that a bot was talked to", scope, move |connection| {
            Box::pin(async move {
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
        })
        .await
    }

    async fn hearings(&self, scope: TenantScope) -> Result<Vec<Hearing>, StoreError> {
        self.scoped("read how well bots hear", scope, move |connection| {
            Box::pin(async move {
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
                let hearings = rows.into_iter().map(|row| Hearing {
                    bot: BotId::from_uuid(row.bot_id),
                    heard_at: row.heard_at.map(jiff_sqlx::Timestamp::to_jiff),
                    said_at: row.said_at.map(jiff_sqlx::Timestamp::to_jiff),
                    silence: row.unheard_since.zip(row.why).map(|(since, why)| Silence {
                        since: since.to_jiff(),
                        why,
                        is_told: row.is_told,
                    }),
                });
                Ok(hearings.collect())
            })
        })
        .await
    }
}
