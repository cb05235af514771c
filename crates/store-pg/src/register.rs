//! The register's store: tenants, agents, bindings and grants; its submodules contain the rest.

pub(crate) mod audit;
mod bots;
mod capabilities;
mod commands;
mod enrolment;
mod gateways;
mod reception;
mod issuer;
mod linking;
mod listing;
mod agent_reach;
mod provision;
mod quota;
mod reach;
mod sessions;

use async_trait::async_trait;
use nightdesk_register::{IdentityStore, NewBot, NewSecret};
use nightdesk_types::{AgentId, BotId, DataKeyId, StoreError, TenantScope};
use nightdesk_vault::WrappedKey;

use crate::Pg;
pub(crate) use bots::BotByPath;
use bots::enter_bot_key;
pub(crate) use enrolment::ClientById;
pub(crate) use gateways::GatewaysByName;
pub(crate) use sessions::KnownRefreshToken;

#[async_trait]
impl IdentityStore for Pg {
    async fn create_tenant(
        &self,
        scope: TenantScope,
        name: &str,
        key: &WrappedKey,
    ) -> Result<(), StoreError> {
        let (name, WrappedKey(wrapped)) = (name.to_owned(), key.clone());
        run_to_end!(self.for_tenant("create a tenant", scope), |connection| {
            sqlx::query!(
                "with tenant as (
                     insert into tenants (tenant_id, name) values ($1, $2)
                 )
                 insert into tenant_keys (tenant_id, key_id, wrapped) values ($1, 1, $3)",
                scope.tenant().uuid(),
                name,
                wrapped
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn data_key(&self, scope: TenantScope) -> Result<(DataKeyId, WrappedKey), StoreError> {
        run_to_end!(self.for_tenant("read a tenant's key", scope), |connection| {
            let row = sqlx::query!(
                "select key_id, wrapped from tenant_keys where tenant_id = $1
                 order by key_id desc limit 1",
                scope.tenant().uuid()
            )
            .fetch_one(connection)
            .await?;
            Ok((DataKeyId::new(row.key_id), WrappedKey(row.wrapped)))
        })
    }

    async fn create_agent(&self, scope: TenantScope, name: &str) -> Result<AgentId, StoreError> {
        let name = name.to_owned();
        run_to_end!(self.for_tenant("create an agent", scope), |connection| {
            let tenant = scope.tenant().uuid();
            let agent = sqlx::query_scalar!(
                "insert into agents (tenant_id, name) values ($1, $2) returning agent_id",
                tenant,
                name
            )
            .fetch_one(&mut *connection)
            .await?;
            sqlx::query!(
                "with head as (
                     insert into inbox_heads (tenant_id, agent_id) values ($1, $2)
                 )
                 insert into inbox_cursors (tenant_id, agent_id) values ($1, $2)",
                tenant,
                agent
            )
            .execute(connection)
            .await?;
            Ok(AgentId::from_uuid(agent))
        })
    }

    async fn create_bot(&self, scope: TenantScope, bot: &NewBot) -> Result<BotId, StoreError> {
        let (path, bot) = (bot.path.clone(), bot.clone());
        let created = run_to_end!(self.for_tenant("create a bot", scope), |connection| {
            sqlx::query!(
                "insert into bots
                     (tenant_id, bot_id, platform, adapter, handle, path, settings)
                 values ($1, $2, $3, $4, $5, $6, $7)",
                scope.tenant().uuid(),
                bot.id,
                bot.platform,
                bot.adapter,
                bot.handle,
                bot.path,
                bot.settings
            )
            .execute(&mut *connection)
            .await?;
            if let Some((sealed, key)) = bot.sealed {
                let first = NewSecret { id: bot.id, sealed, key };
                enter_bot_key(connection, scope, bot.id, &first).await?;
            }
            Ok(BotId::from_uuid(bot.id))
        });
        self.lookups.bots.forget_unknown(&path);
        created
    }
}
