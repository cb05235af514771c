//! Gateways that provision themselves.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::enrolment::{Identity, may_be_called};
use nightdesk_register::provision::{
    Front, GatewayDescription, GatewayProvision, ProvisionResult, Provisioning,
};
use nightdesk_register::{Gateway, StoredSecret};
use nightdesk_types::limits::{HELLOS_MAX, PROVISIONED_SECRETS_MAX, WAKERS_MAX};
use nightdesk_types::{DataKeyId, GatewayId, StoreError, TenantScope};
use nightdesk_vault::WrappedKey;
use nightdesk_wake::WakeRow;
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use super::audit::record_act;
use super::enrolment::{check_binding, lock_holder, lock_tenant, write_binding};
use crate::Pg;
use crate::wake::rows::{WakeKey, change_wake};

#[async_trait]
impl Provisioning for Pg {
    async fn provision(
        &self,
        identity: &Identity,
        provision: &GatewayProvision,
    ) -> Result<ProvisionResult, StoreError> {
        let (identity, provision) = (*identity, provision.clone());
        let name = provision.description.gateway.clone();
        let operation = self.for_tenant("provision a gateway", identity.scope);
        let provisioned = run_to_end!(operation, |connection| {
            // An enrolment locks the tenant before the gateway, and the quota of a new gateway locks the tenant.
            lock_tenant(connection, identity.scope).await?;
            let name = &provision.description.gateway;
            let binding = match check_binding(connection, &identity, name).await? {
                Ok(binding) => binding,
                Err(refusal) => return Ok(ProvisionResult::Refused(refusal)),
            };
            insert_gateway(connection, &identity, name).await?;
            // The lock makes concurrent requests get the same secret.
            let holder = lock_holder(connection, identity.scope, name).await?;
            let gateway = match may_be_called(identity.agent, holder.as_ref()) {
                Ok(Some(gateway)) => gateway.uuid(),
                Ok(None) => return Err(sqlx::Error::RowNotFound),
                Err(refusal) => return Ok(ProvisionResult::Refused(refusal)),
            };
            write_binding(connection, &identity, name, binding).await?;
            note_platform(connection, identity.scope, gateway, &provision.description.front)
                .await?;
            set_wake_url(connection, &identity, gateway, &provision.description).await?;
            set_display_name(connection, &identity, provision.description.display_name.as_deref())
                .await?;
            let same = find_recent_secret(connection, &identity, gateway, &provision).await?;
            if same.is_none() {
                replace_secret(connection, &identity, gateway, &provision).await?;
            }
            let about =
                json!({ "gateway_id": gateway, "platform": provision.description.front.platform });
            record_act(connection, identity.scope, Kind::GatewayProvisioned, about).await?;
            let new = || ProvisionResult::New(GatewayId::from_uuid(gateway));
            Ok(same.map_or_else(new, |same| ProvisionResult::Same(Box::new(same))))
        });
        self.lookups.gateways.forget_unknown(&name);
        provisioned
    }

    async fn fronts(&self, scope: TenantScope, gateway: &str) -> Result<Vec<Front>, StoreError> {
        let gateway = gateway.to_owned();
        run_to_end!(self.for_tenant("read the platforms of a gateway", scope), |connection| {
            sqlx::query_as!(
                Front,
                "select p.platform, p.bot_handle, p.route_keys, p.instance
                 from gateway_platforms p join gateways g using (tenant_id, gateway_id)
                 where p.tenant_id = $1 and g.name = $2
                 order by p.platform",
                scope.tenant().uuid(),
                gateway
            )
            .fetch_all(connection)
            .await
        })
    }
}

/// Inserts the gateway, unless the name is taken.
async fn insert_gateway(
    connection: &mut PgConnection,
    identity: &Identity,
    name: &str,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into gateways (tenant_id, agent_id, name) values ($1, $2, $3)
         on conflict do nothing",
        identity.scope.tenant().uuid(),
        identity.agent.uuid(),
        name
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes the platform that the gateway fronts. If there are more than a line may front, the oldest is deleted.
async fn note_platform(
    connection: &mut PgConnection,
    scope: TenantScope,
    gateway: Uuid,
    front: &Front,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into gateway_platforms
             (tenant_id, gateway_id, platform, bot_handle, route_keys, instance)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (tenant_id, gateway_id, platform) do update
         set bot_handle = excluded.bot_handle, route_keys = excluded.route_keys,
             instance = excluded.instance, provisioned_at = excluded.provisioned_at",
        scope.tenant().uuid(),
        gateway,
        front.platform,
        front.bot_handle,
        &front.route_keys,
        front.instance
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "delete from gateway_platforms
         where tenant_id = $1 and gateway_id = $2 and platform not in (
             select p.platform from gateway_platforms p
             where p.tenant_id = $1 and p.gateway_id = $2
             order by p.provisioned_at desc
             limit $3
         )",
        scope.tenant().uuid(),
        gateway,
        i64::try_from(HELLOS_MAX).unwrap_or(i64::MAX)
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes the agent's display name in place of the previous one.
async fn set_display_name(
    connection: &mut PgConnection,
    identity: &Identity,
    name: Option<&str>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update agents set display_name = $3
         where tenant_id = $1 and agent_id = $2 and display_name is distinct from $3",
        identity.scope.tenant().uuid(),
        identity.agent.uuid(),
        name
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes the gateway's wake URL in place of the previous one. If the operator set wake targets, none is added.
async fn set_wake_url(
    connection: &mut PgConnection,
    identity: &Identity,
    gateway: Uuid,
    said: &GatewayDescription,
) -> sqlx::Result<()> {
    let (tenant, agent) = (identity.scope.tenant().uuid(), identity.agent.uuid());
    let gone = sqlx::query!(
        "delete from wakers
         where tenant_id = $1 and agent_id = $2 and gateway_id = $3 and url is distinct from $4",
        tenant,
        agent,
        gateway,
        said.wake_url
    );
    gone.execute(&mut *connection).await?;
    let Some(url) = &said.wake_url else { return Ok(()) };
    let added = sqlx::query!(
        "insert into wakers (tenant_id, agent_id, position, url, gateway_id)
         select $1, $2, coalesce(max(w.position), 0) + 1, $4, $3
         from wakers w where w.tenant_id = $1 and w.agent_id = $2
         having count(*) < $5 and count(*) = count(w.gateway_id)
            and not coalesce(bool_or(w.gateway_id = $3), false)
         on conflict do nothing",
        tenant,
        agent,
        gateway,
        url,
        i64::try_from(WAKERS_MAX).unwrap_or(i64::MAX)
    );
    if added.execute(&mut *connection).await?.rows_affected() == 1 {
        change_wake(connection, WakeKey { tenant, agent }, WakeRow::call_soon).await?;
    }
    Ok(())
}

/// Returns the secret that this boot of the gateway got before, perhaps for another platform.
async fn find_recent_secret(
    connection: &mut PgConnection,
    identity: &Identity,
    gateway: Uuid,
    provision: &GatewayProvision,
) -> sqlx::Result<Option<StoredSecret>> {
    let row = sqlx::query!(
        "select s.secret_id, s.sealed, s.key_id, k.wrapped, g.acks
         from gateway_secrets s
             join tenant_keys k on k.tenant_id = s.tenant_id and k.key_id = s.key_id
             join gateways g on g.tenant_id = s.tenant_id and g.gateway_id = s.gateway_id
         where s.tenant_id = $1 and s.gateway_id = $2 and s.provisioned and s.expires_at is null
           and s.created_at > now() - make_interval(secs => $3)
         order by s.created_at desc
         limit 1",
        identity.scope.tenant().uuid(),
        gateway,
        provision.same_for.as_secs_f64()
    )
    .fetch_optional(connection)
    .await?;
    let Identity { scope, agent, .. } = *identity;
    let id = GatewayId::from_uuid(gateway);
    Ok(row.map(|row| StoredSecret {
        gateway: Gateway { scope, id, agent, acks: row.acks },
        secret_id: row.secret_id,
        sealed: row.sealed,
        key: DataKeyId::new(row.key_id),
        wrapped: WrappedKey(row.wrapped),
        revoked: false,
        expired: false,
    }))
}

/// Gives the gateway the new secret. Secrets of earlier boots end after the overlap; ended secrets and the oldest
/// beyond the limit are deleted.
async fn replace_secret(
    connection: &mut PgConnection,
    identity: &Identity,
    gateway: Uuid,
    provision: &GatewayProvision,
) -> sqlx::Result<()> {
    let tenant = identity.scope.tenant().uuid();
    sqlx::query!(
        "update gateway_secrets
         set expires_at = least(expires_at, now() + make_interval(secs => $3))
         where tenant_id = $1 and gateway_id = $2 and provisioned",
        tenant,
        gateway,
        provision.overlap.as_secs_f64()
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "delete from gateway_secrets
         where tenant_id = $1 and gateway_id = $2 and provisioned and secret_id not in (
             select s.secret_id from gateway_secrets s
             where s.tenant_id = $1 and s.gateway_id = $2 and s.provisioned
               and coalesce(s.expires_at > now(), true)
             order by s.created_at desc
             limit $3
         )",
        tenant,
        gateway,
        PROVISIONED_SECRETS_MAX - 1
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "insert into gateway_secrets
             (tenant_id, gateway_id, secret_id, sealed, key_id, provisioned)
         values ($1, $2, $3, $4, $5, true)",
        tenant,
        gateway,
        provision.secret.id,
        provision.secret.sealed,
        provision.secret.key.get()
    )
    .execute(connection)
    .await?;
    Ok(())
}
