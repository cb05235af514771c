//! Bots and nodes.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::{Bots, GreetedBot, NewSecret, StoredBot, StoredBotKey};
use nightdesk_types::limits::{BOT_KEYS_LIVE_MAX, LISTENING_BOTS_MAX};
use nightdesk_types::{AgentId, BotId, DataKeyId, StoreError, TenantId, TenantScope, Timestamp};
use nightdesk_vault::WrappedKey;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::lookup::Finder;

#[async_trait]
impl Bots for Pg {
    async fn bot_at(&self, path: &str) -> Result<Option<StoredBot>, StoreError> {
        self.lookups.bots.find(path.to_owned()).await
    }

    async fn listening_bots(&self, adapters: &[String]) -> Result<Vec<BotId>, StoreError> {
        let adapters = adapters.to_vec();
        run_to_end!(self.single("find bots to listen for"), |connection| {
            let bots = sqlx::query_scalar!(
                r#"select bot_id as "bot!" from door_listening_bots($1, $2)"#,
                &adapters[..],
                LISTENING_BOTS_MAX
            )
            .fetch_all(connection)
            .await?;
            Ok(bots.into_iter().map(BotId::from_uuid).collect())
        })
    }

    async fn bot(&self, id: BotId) -> Result<Option<StoredBot>, StoreError> {
        run_to_end!(self.single("find a bot"), |connection| {
            let found = find_bots(connection, &[], &[id.uuid()]).await?;
            Ok(found.into_values().next())
        })
    }

    async fn rotate_bot_key(
        &self,
        scope: TenantScope,
        bot: BotId,
        key: &NewSecret,
        overlap: Duration,
    ) -> Result<bool, StoreError> {
        let key = key.clone();
        run_to_end!(self.for_tenant("replace a bot's key", scope), |connection| {
            rotate_key(connection, scope, bot, &key, overlap).await
        })
    }

    async fn hook_path(
        &self,
        scope: TenantScope,
        bot: BotId,
    ) -> Result<Option<String>, StoreError> {
        run_to_end!(self.for_tenant("find a bot's path", scope), |connection| {
            sqlx::query_scalar!(
                "select path from bots where tenant_id = $1 and bot_id = $2",
                scope.tenant().uuid(),
                bot.uuid()
            )
            .fetch_optional(connection)
            .await
        })
    }

    async fn remove_bot(&self, scope: TenantScope, bot: BotId) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("remove a bot", scope), |connection| {
            sqlx::query_scalar!(
                r#"select door_remove_bot($1, $2) as "found!""#,
                scope.tenant().uuid(),
                bot.uuid()
            )
            .fetch_one(connection)
            .await
        })
    }

    async fn bots_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GreetedBot>, StoreError> {
        run_to_end!(self.single("find an agent's bots"), |connection| {
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
    }

    async fn time(&self) -> Result<Timestamp, StoreError> {
        run_to_end!(self.single("read the time"), |connection| {
            let time =
                sqlx::query_scalar!(r#"select clock_timestamp() as "now!: jiff_sqlx::Timestamp""#)
                    .fetch_one(connection)
                    .await?;
            Ok(time.to_jiff())
        })
    }
}

/// Finds a bot by the path of its webhook.
pub(crate) struct BotByPath;

impl Finder for BotByPath {
    type Name = String;
    type Found = StoredBot;
    const OPERATION: &'static str = "find a bot by its path";

    async fn find(
        connection: &mut PgConnection,
        paths: Vec<String>,
    ) -> sqlx::Result<HashMap<String, StoredBot>> {
        find_bots(connection, &paths, &[]).await
    }
}

/// Returns the bots with these paths or ids, by path.
async fn find_bots(
    connection: &mut PgConnection,
    paths: &[String],
    ids: &[Uuid],
) -> sqlx::Result<HashMap<String, StoredBot>> {
    let rows = sqlx::query_as!(
        BotRow,
        r#"select path as "path!", tenant_id as "tenant!", bot_id as "bot!",
               platform as "platform!", adapter as "adapter!", handle as "handle!",
               settings as "settings!", bot_key_id, sealed, key_id as key, wrapped
           from door_bot($1, $2, $3)"#,
        paths,
        ids,
        BOT_KEYS_LIVE_MAX
    )
    .fetch_all(connection)
    .await?;
    let mut bots: HashMap<String, StoredBot> = HashMap::new();
    for row in rows {
        let key = row.bot_key();
        bots.entry(row.path.clone()).or_insert_with(|| row.into_bot()).keys.extend(key);
    }
    Ok(bots)
}

/// A bot, once for each of its live keys, or once without a key.
struct BotRow {
    path: String,
    tenant: Uuid,
    bot: Uuid,
    platform: String,
    adapter: String,
    handle: String,
    settings: Value,
    bot_key_id: Option<Uuid>,
    sealed: Option<Vec<u8>>,
    key: Option<i64>,
    wrapped: Option<Vec<u8>>,
}

impl BotRow {
    /// Returns the bot without its keys.
    fn into_bot(self) -> StoredBot {
        let Self { tenant, bot, platform, adapter, handle, settings, .. } = self;
        let (operator, id) = (TenantId::from_uuid(tenant), BotId::from_uuid(bot));
        StoredBot { operator, id, platform, adapter, handle, settings, keys: Vec::new() }
    }

    fn bot_key(&self) -> Option<StoredBotKey> {
        Some(StoredBotKey {
            row: self.bot_key_id?,
            sealed: self.sealed.clone()?,
            key: DataKeyId::new(self.key?),
            wrapped: WrappedKey(self.wrapped.clone()?),
        })
    }
}

/// Inserts a bot's key.
pub(super) async fn enter_bot_key(
    connection: &mut PgConnection,
    scope: TenantScope,
    bot: Uuid,
    key: &NewSecret,
) -> sqlx::Result<()> {
    sqlx::query!(
        // `clock_timestamp` orders two keys that one transaction inserts.
        "insert into bot_keys (tenant_id, bot_id, bot_key_id, sealed, key_id, created_at)
         values ($1, $2, $3, $4, $5, clock_timestamp())",
        scope.tenant().uuid(),
        bot,
        key.id,
        key.sealed,
        key.key.get()
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn rotate_key(
    connection: &mut PgConnection,
    scope: TenantScope,
    bot: BotId,
    key: &NewSecret,
    overlap: Duration,
) -> sqlx::Result<bool> {
    let tenant = scope.tenant().uuid();
    let found = sqlx::query!(
        "select from bots where tenant_id = $1 and bot_id = $2 for update",
        tenant,
        bot.uuid()
    );
    if found.fetch_optional(&mut *connection).await?.is_none() {
        return Ok(false);
    }
    sqlx::query!(
        "update bot_keys set expires_at = least(expires_at, now() + make_interval(secs => $3))
         where tenant_id = $1 and bot_id = $2",
        tenant,
        bot.uuid(),
        overlap.as_secs_f64()
    )
    .execute(&mut *connection)
    .await?;
    enter_bot_key(connection, scope, bot.uuid(), key).await?;
    Ok(true)
}
