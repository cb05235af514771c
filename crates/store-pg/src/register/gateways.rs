//! Gateways and their secrets.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::{Gateway, GatewayProof, Gateways, NewSecret, StoredSecret};
use nightdesk_types::{Actor, AgentId, DataKeyId, GatewayId, StoreError, TenantId, TenantScope};
use nightdesk_vault::WrappedKey;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::lookup::Finder;

#[async_trait]
impl Gateways for Pg {
    async fn create_gateway(
        &self,
        scope: TenantScope,
        agent: AgentId,
        name: &str,
        secret: &NewSecret,
    ) -> Result<GatewayId, StoreError> {
        let (own_name, secret) = (name.to_owned(), secret.clone());
        let created = run_to_end!(self.for_tenant("create a gateway", scope), |connection| {
            let gateway = enter_gateway(connection, scope, agent, &own_name).await?;
            enter_secret(connection, scope, gateway, &secret).await?;
            Ok(GatewayId::from_uuid(gateway))
        });
        self.lookups.gateways.forget_unknown(&name.to_owned());
        created
    }

    async fn rotate(
        &self,
        scope: TenantScope,
        name: &str,
        secret: &NewSecret,
        overlap: Duration,
    ) -> Result<Option<GatewayId>, StoreError> {
        let (own_name, secret) = (name.to_owned(), secret.clone());
        let rotated = run_to_end!(self.for_tenant("rotate a secret", scope), |connection| {
            let gateway = sqlx::query_scalar!(
                "select gateway_id from gateways
                 where tenant_id = $1 and name = $2 and revoked_at is null
                 for update",
                scope.tenant().uuid(),
                own_name
            )
            .fetch_optional(&mut *connection)
            .await?;
            if let Some(gateway) = gateway {
                end_secrets(connection, scope, gateway, overlap).await?;
                enter_secret(connection, scope, gateway, &secret).await?;
            }
            Ok(gateway.map(GatewayId::from_uuid))
        });
        self.lookups.gateways.forget_unknown(&name.to_owned());
        rotated
    }

    async fn revoke(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        run_to_end!(self.for_tenant("revoke a gateway", scope), |connection| {
            let found = sqlx::query_scalar!(
                "update gateways set revoked_at = coalesce(revoked_at, now())
                 where tenant_id = $1 and name = $2
                 returning gateway_id",
                scope.tenant().uuid(),
                name
            )
            .fetch_optional(&mut *connection)
            .await?;
            // The wake targets that the gateway set end with it.
            sqlx::query!(
                "delete from wakers where tenant_id = $1 and gateway_id = $2",
                scope.tenant().uuid(),
                found
            )
            .execute(connection)
            .await?;
            Ok(found.is_some())
        })
    }

    async fn gateways_named(&self, name: &str) -> Result<Vec<StoredSecret>, StoreError> {
        Ok(self.lookups.gateways.find(name.to_owned()).await?.unwrap_or_default())
    }

    async fn gateway_for_tokens(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<GatewayProof>, StoreError> {
        run_to_end!(self.for_tenant("find an agent's gateway", scope), |connection| {
            if let Some(found) = gateway_of_tokens(connection, scope, agent).await? {
                return Ok(Some(found));
            }
            sqlx::query!(
                "insert into gateways (tenant_id, agent_id, name)
                 select tenant_id, agent_id, 'agent:' || agent_id from agents
                 where tenant_id = $1 and agent_id = $2 and tenant_lives(tenant_id)
                 on conflict do nothing",
                scope.tenant().uuid(),
                agent.uuid()
            )
            .execute(&mut *connection)
            .await?;
            // Another node may have inserted it first.
            gateway_of_tokens(connection, scope, agent).await
        })
    }

    async fn revoked_within(
        &self,
        span: Duration,
    ) -> Result<Vec<(TenantId, GatewayId)>, StoreError> {
        run_to_end!(self.single("find revoked gateways"), |connection| {
            let rows = sqlx::query!(
                r#"select tenant_id as "tenant!", gateway_id as "gateway!"
                   from door_revoked(make_interval(secs => $1))"#,
                span.as_secs_f64()
            )
            .fetch_all(connection)
            .await?;
            let ids =
                |tenant, gateway| (TenantId::from_uuid(tenant), GatewayId::from_uuid(gateway));
            Ok(rows.into_iter().map(|row| ids(row.tenant, row.gateway)).collect())
        })
    }
}

/// Finds every secret of every gateway of a name.
pub(crate) struct GatewaysByName;

impl Finder for GatewaysByName {
    type Name = String;
    type Found = Vec<StoredSecret>;
    const OPERATION: &'static str = "find a gateway";

    async fn find(
        connection: &mut PgConnection,
        names: Vec<String>,
    ) -> sqlx::Result<HashMap<String, Vec<StoredSecret>>> {
        let rows = sqlx::query!(
            r#"select name as "name!", tenant_id as "tenant!", gateway_id as "gateway!",
                   agent_id as "agent!", acks as "acks!", revoked as "revoked!",
                   secret_id as "secret!", sealed as "sealed!", key_id as "key!",
                   wrapped as "wrapped!", expired as "expired!"
               from door_gateways($1)"#,
            &names
        )
        .fetch_all(connection)
        .await?;
        let mut found: HashMap<String, Vec<StoredSecret>> = HashMap::new();
        for row in rows {
            let id = GatewayId::from_uuid(row.gateway);
            let scope = TenantScope::for_tenant(TenantId::from_uuid(row.tenant))
                .with_actor(Actor::Gateway(id));
            let agent = AgentId::from_uuid(row.agent);
            found.entry(row.name).or_default().push(StoredSecret {
                gateway: Gateway { scope, id, agent, acks: row.acks },
                secret_id: row.secret,
                sealed: row.sealed,
                key: DataKeyId::new(row.key),
                wrapped: WrappedKey(row.wrapped),
                revoked: row.revoked,
                expired: row.expired,
            });
        }
        Ok(found)
    }
}

/// Returns the gateway of an agent's tokens. No gateway that enrols or provisions may have such a name.
async fn gateway_of_tokens(
    connection: &mut PgConnection,
    scope: TenantScope,
    agent: AgentId,
) -> sqlx::Result<Option<GatewayProof>> {
    let row = sqlx::query!(
        r#"select gateway_id, acks, revoked_at is not null as "revoked!" from gateways
           where tenant_id = $1 and agent_id = $2 and name = 'agent:' || $2"#,
        scope.tenant().uuid(),
        agent.uuid()
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| {
        let id = GatewayId::from_uuid(row.gateway_id);
        let gateway = Gateway { scope, id, agent, acks: row.acks };
        if row.revoked { GatewayProof::Revoked(gateway) } else { GatewayProof::Valid(gateway) }
    }))
}

/// Inserts a gateway without a secret.
pub(super) async fn enter_gateway(
    connection: &mut PgConnection,
    scope: TenantScope,
    agent: AgentId,
    name: &str,
) -> sqlx::Result<Uuid> {
    let gateway = sqlx::query_scalar!(
        "insert into gateways (tenant_id, agent_id, name) values ($1, $2, $3)
         returning gateway_id",
        scope.tenant().uuid(),
        agent.uuid(),
        name
    );
    gateway.fetch_one(connection).await
}

/// Ends the gateway's secrets after the overlap, unless they end earlier.
pub(super) async fn end_secrets(
    connection: &mut PgConnection,
    scope: TenantScope,
    gateway: Uuid,
    overlap: Duration,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update gateway_secrets
         set expires_at = least(expires_at, now() + make_interval(secs => $3))
         where tenant_id = $1 and gateway_id = $2",
        scope.tenant().uuid(),
        gateway,
        overlap.as_secs_f64()
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn enter_secret(
    connection: &mut PgConnection,
    scope: TenantScope,
    gateway: Uuid,
    secret: &NewSecret,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into gateway_secrets (tenant_id, gateway_id, secret_id, sealed, key_id)
         values ($1, $2, $3, $4, $5)",
        scope.tenant().uuid(),
        gateway,
        secret.id,
        secret.sealed,
        secret.key.get()
    )
    .execute(connection)
    .await?;
    Ok(())
}
