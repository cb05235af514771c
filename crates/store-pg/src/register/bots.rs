//! Bots and nodes.

use async_trait::async_trait;
use nightdesk_register::{Bots, GreetedBot, StoredBot};
use nightdesk_types::{AgentId, BotId, StoreError, TenantId, TenantScope, Timestamp};
use nightdesk_vault::WrappedKey;

use crate::Pg;

#[async_trait]
impl Bots for Pg {
    async fn bot_at(&self, path: &str) -> Result<Option<StoredBot>, StoreError> {
        self.find_bot(Some(path.to_owned()), None).await
    }

    async fn bot(&self, id: BotId) -> Result<Option<StoredBot>, StoreError> {
        self.find_bot(None, Some(id)).await
    }

    async fn bots_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GreetedBot>, StoreError> {
        self.single("find an agent's bots", move |connection| {
            Box::pin(async move {
                let rows = sqlx::query!(
                    r#"select bot_id as "bot!", platform as "platform!", handle as "handle!"
                       from door_bots_of($1, $2)"#,
                    scope.tenant().uuid(),
                    agent.uuid()
                )
                .fetch_all(connection)
                .await?;
                let bot = |id, platform, handle| GreetedBot { id, platform, handle };
                Ok(rows
                    .into_iter()
                    .map(|row| bot(BotId::from_uuid(row.bot), row.platform, row.handle))
                    .collect())
            })
        })
        .await
    }

    async fn time(&self) -> Result<Timestamp, StoreError> {
        self.single("tell the time", |connection| {
            Box::pin(async move {
                let time = sqlx::query_scalar!(
                    r#"select clock_timestamp() as "now!: jiff_sqlx::Timestamp""#
                )
                .fetch_one(connection)
                .await?;
                Ok(time.to_jiff())
            })
        })
        .await
    }
}

impl Pg {
    async fn find_bot(
        &self,
        path: Option<String>,
        id: Option<BotId>,
    ) -> Result<Option<StoredBot>, StoreError> {
        self.single("find a bot", move |connection| {
            Box::pin(async move {
                let row = sqlx::query!(
                    r#"select tenant_id as "tenant!", bot_id as "bot!", platform as "platform!",
                           adapter as "adapter!", handle as "handle!", settings as "settings!",
                           sealed, wrapped
                       from door_bot($1, $2)"#,
                    path,
                    id.map(BotId::uuid)
                )
                .fetch_optional(connection)
                .await?;
                Ok(row.map(|row| StoredBot {
                    operator: TenantId::from_uuid(row.tenant),
                    id: BotId::from_uuid(row.bot),
                    platform: row.platform,
                    adapter: row.adapter,
                    handle: row.handle,
                    settings: row.settings,
                    sealed: row.sealed.zip(row.wrapped.map(WrappedKey)),
                }))
            })
        })
        .await
    }
}
