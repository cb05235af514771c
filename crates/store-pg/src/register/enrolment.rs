//! Machine identities and one-time tokens.

use std::collections::HashMap;

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::enrolment::{
    ClientBinding, Digest, Enrolling, EnrolmentRefusal, EnrolmentRequest, EnrolmentResult,
    EnrolmentToken, Identity, MachineClient, NameHolder, NewInvitation, StoredClient, bind_client,
    decide,
};
use nightdesk_types::limits::ENROLMENT_KEPT_DAYS;
use nightdesk_types::{Actor, AgentId, ClientId, GatewayId, StoreError, TenantId, TenantScope};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use super::audit::record_act;
use super::gateways::{end_secrets, enter_gateway, enter_secret};
use crate::Pg;
use crate::lookup::Finder;
use crate::row::bad_column;

#[async_trait]
impl Enrolling for Pg {
    async fn invite(
        &self,
        scope: TenantScope,
        agent: AgentId,
        invitation: &NewInvitation,
    ) -> Result<(), StoreError> {
        let new = invitation.clone();
        run_to_end!(self.for_tenant("invite a gateway", scope), |connection| {
            delete_expired(connection, scope).await?;
            sqlx::query!(
                "with client as (
                     insert into oauth_clients
                         (tenant_id, client_id, agent_id, secret_sha256, gateway_name, expires_at)
                     values ($1, $2, $3, $4, $6, now() + make_interval(secs => $7))
                 )
                 insert into enrolments
                     (tenant_id, agent_id, token_sha256, gateway_name, expires_at)
                 values ($1, $3, $5, $6, now() + make_interval(secs => $7))",
                scope.tenant().uuid(),
                new.client.uuid(),
                agent.uuid(),
                new.secret.as_bytes(),
                new.token.as_bytes(),
                new.gateway,
                new.good_for.as_secs_f64()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn client(&self, id: ClientId) -> Result<Option<StoredClient>, StoreError> {
        self.lookups.clients.find(id.uuid()).await
    }

    async fn revoke_client(&self, scope: TenantScope, id: ClientId) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("revoke a client", scope), |connection| {
            let found = sqlx::query!(
                "update oauth_clients set revoked_at = coalesce(revoked_at, now())
                 where tenant_id = $1 and client_id = $2",
                scope.tenant().uuid(),
                id.uuid()
            )
            .execute(connection)
            .await?;
            Ok(found.rows_affected() == 1)
        })
    }

    async fn enrol(
        &self,
        identity: &Identity,
        enrol: &EnrolmentRequest,
    ) -> Result<EnrolmentResult, StoreError> {
        let (identity, enrol) = (*identity, enrol.clone());
        let (Identity { scope, agent, .. }, name) = (identity, enrol.gateway.clone());
        let enrolled = run_to_end!(self.for_tenant("enrol a gateway", scope), |connection| {
            lock_tenant(connection, scope).await?;
            let token = read_token(connection, scope, &enrol.token).await?;
            let holder = lock_holder(connection, scope, &enrol.gateway).await?;
            let binding = check_binding(connection, &identity, &enrol.gateway).await?;
            let decided = decide(agent, &enrol.gateway, token.as_ref(), holder.as_ref());
            match decided.and_then(|had| Ok((had, binding?))) {
                Ok((had, binding)) => {
                    write_binding(connection, &identity, &enrol.gateway, binding).await?;
                    let gateway = issue_secret(connection, &identity, &enrol, had).await?;
                    mark_used(connection, scope, &enrol.token, gateway).await?;
                    let about = json!({ "gateway_id": gateway });
                    record_act(connection, scope, Kind::GatewayEnrolled, about).await?;
                    Ok(EnrolmentResult::Gateway(GatewayId::from_uuid(gateway)))
                }
                Err(refusal) => Ok(EnrolmentResult::Refused(refusal)),
            }
        });
        self.lookups.gateways.forget_unknown(&name);
        enrolled
    }
}

/// Finds a machine identity by its id.
pub(crate) struct ClientById;

impl Finder for ClientById {
    type Name = Uuid;
    type Found = StoredClient;
    const OPERATION: &'static str = "find a client";

    async fn find(
        connection: &mut PgConnection,
        ids: Vec<Uuid>,
    ) -> sqlx::Result<HashMap<Uuid, StoredClient>> {
        let rows = sqlx::query!(
            r#"select client_id as "client!", tenant_id as "tenant!", agent_id as "agent!",
                   secret_sha256 as "secret!", live as "live!"
               from door_client($1)"#,
            &ids
        )
        .fetch_all(connection)
        .await?;
        let mut found = HashMap::new();
        for row in rows {
            let secret = row.secret.try_into();
            let secret = secret.map_err(|_| bad_column("oauth_clients", "secret_sha256"))?;
            let id = ClientId::from_uuid(row.client);
            let scope = TenantScope::for_tenant(TenantId::from_uuid(row.tenant))
                .with_actor(Actor::Client(id));
            let client = MachineClient { scope, id, agent: AgentId::from_uuid(row.agent) };
            let secret = Digest::from_bytes(secret);
            found.insert(row.client, StoredClient { client, secret, live: row.live });
        }
        Ok(found)
    }
}

/// Locks the tenant, so that its enrolments run one at a time. Of two enrolments with one token or for one name, the
/// later sees the result of the earlier.
pub(super) async fn lock_tenant(
    connection: &mut PgConnection,
    scope: TenantScope,
) -> sqlx::Result<()> {
    sqlx::query!("select from tenants where tenant_id = $1 for update", scope.tenant().uuid())
        .fetch_one(connection)
        .await?;
    Ok(())
}

/// Checks that a machine identity may use a gateway name. The tenant's lock keeps the result true until the name is
/// written.
pub(super) async fn check_binding(
    connection: &mut PgConnection,
    identity: &Identity,
    name: &str,
) -> sqlx::Result<Result<ClientBinding, EnrolmentRefusal>> {
    let Some(client) = identity.client else { return Ok(Ok(ClientBinding::Bound)) };
    let row = sqlx::query!(
        "select gateway_name from oauth_clients where tenant_id = $1 and client_id = $2",
        identity.scope.tenant().uuid(),
        client.uuid()
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(Err(EnrolmentRefusal::Unknown)) };
    Ok(bind_client(row.gateway_name.as_deref(), name))
}

/// Writes the gateway name of a machine identity that has none yet.
pub(super) async fn write_binding(
    connection: &mut PgConnection,
    identity: &Identity,
    name: &str,
    binding: ClientBinding,
) -> sqlx::Result<()> {
    let (Some(client), ClientBinding::New) = (identity.client, binding) else { return Ok(()) };
    sqlx::query!(
        "update oauth_clients set gateway_name = $3 where tenant_id = $1 and client_id = $2",
        identity.scope.tenant().uuid(),
        client.uuid(),
        name
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn read_token(
    connection: &mut PgConnection,
    scope: TenantScope,
    token: &Digest,
) -> sqlx::Result<Option<EnrolmentToken>> {
    let row = sqlx::query!(
        r#"select agent_id, gateway_name, used_at is not null as "used!",
               expires_at <= now() as "expired!"
           from enrolments where tenant_id = $1 and token_sha256 = $2"#,
        scope.tenant().uuid(),
        token.as_bytes()
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| EnrolmentToken {
        agent: AgentId::from_uuid(row.agent_id),
        gateway: row.gateway_name,
        used: row.used,
        expired: row.expired,
    }))
}

pub(super) async fn lock_holder(
    connection: &mut PgConnection,
    scope: TenantScope,
    name: &str,
) -> sqlx::Result<Option<NameHolder>> {
    let row = sqlx::query!(
        r#"select gateway_id, agent_id, revoked_at is not null as "revoked!"
           from gateways where tenant_id = $1 and name = $2 for update"#,
        scope.tenant().uuid(),
        name
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| NameHolder {
        gateway: GatewayId::from_uuid(row.gateway_id),
        agent: AgentId::from_uuid(row.agent_id),
        revoked: row.revoked,
    }))
}

/// Gives the secret to the gateway that has the name, or to a new one.
async fn issue_secret(
    connection: &mut PgConnection,
    identity: &Identity,
    enrol: &EnrolmentRequest,
    had: Option<GatewayId>,
) -> sqlx::Result<Uuid> {
    let gateway = match had {
        Some(gateway) => {
            end_secrets(connection, identity.scope, gateway.uuid(), enrol.overlap).await?;
            gateway.uuid()
        }
        None => enter_gateway(connection, identity.scope, identity.agent, &enrol.gateway).await?,
    };
    enter_secret(connection, identity.scope, gateway, &enrol.secret).await?;
    Ok(gateway)
}

async fn mark_used(
    connection: &mut PgConnection,
    scope: TenantScope,
    token: &Digest,
    gateway: Uuid,
) -> sqlx::Result<()> {
    let used = sqlx::query!(
        "update enrolments set used_at = now(), gateway_id = $3
         where tenant_id = $1 and token_sha256 = $2 and used_at is null",
        scope.tenant().uuid(),
        token.as_bytes(),
        gateway
    )
    .execute(connection)
    .await?;
    if used.rows_affected() == 1 { Ok(()) } else { Err(sqlx::Error::RowNotFound) }
}

/// Deletes entries that expired long ago. Each new entry triggers this, so the tables do not grow.
async fn delete_expired(connection: &mut PgConnection, scope: TenantScope) -> sqlx::Result<()> {
    sqlx::query!(
        "with old as (
             delete from enrolments
             where tenant_id = $1 and expires_at < now() - make_interval(days => $2)
         )
         delete from oauth_clients
         where tenant_id = $1 and expires_at < now() - make_interval(days => $2)",
        scope.tenant().uuid(),
        ENROLMENT_KEPT_DAYS
    )
    .execute(connection)
    .await?;
    Ok(())
}
