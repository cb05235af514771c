//! Lists tenants, agents and gateways for an operator.

use std::collections::HashMap;

use async_trait::async_trait;
use nightdesk_register::{LastLine, ListedGateway, ListedIdentity, Listing, LiveSecret};
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;

#[async_trait]
impl Listing for Pg {
    async fn tenants_called(
        &self,
        called: &str,
    ) -> Result<Vec<ListedIdentity<TenantId>>, StoreError> {
        let called = called.to_owned();
        run_to_end!(self.single("find a tenant"), |connection| {
            let rows = sqlx::query_as!(
                NamedRow,
                r#"select tenant_id as "id!", name as "name!",
                       created_at as "created_at!: jiff_sqlx::Timestamp"
                   from door_tenant($1, $2)"#,
                called,
                parse_written_id(&called)
            );
            Ok(with_ids(rows.fetch_all(connection).await?, TenantId::from_uuid))
        })
    }

    async fn tenants(&self, after: &str) -> Result<Vec<ListedIdentity<TenantId>>, StoreError> {
        let after = after.to_owned();
        run_to_end!(self.single("list tenants"), |connection| {
            let rows = sqlx::query_as!(
                NamedRow,
                r#"select tenant_id as "id!", name as "name!",
                       created_at as "created_at!: jiff_sqlx::Timestamp"
                   from door_tenants($1, $2)"#,
                after,
                i32::try_from(LIST_ROWS_MAX).unwrap_or(i32::MAX)
            );
            Ok(with_ids(rows.fetch_all(connection).await?, TenantId::from_uuid))
        })
    }

    async fn agents_called(
        &self,
        scope: TenantScope,
        called: &str,
    ) -> Result<Vec<ListedIdentity<AgentId>>, StoreError> {
        let called = called.to_owned();
        run_to_end!(self.for_tenant("find an agent", scope), |connection| {
            let rows = sqlx::query_as!(
                NamedRow,
                r#"select agent_id as id, name, created_at as "created_at: jiff_sqlx::Timestamp"
                   from agents
                   where tenant_id = $1 and (name = $2 or agent_id = $3)
                     and tenant_lives(tenant_id)"#,
                scope.tenant().uuid(),
                called,
                parse_written_id(&called)
            );
            Ok(with_ids(rows.fetch_all(connection).await?, AgentId::from_uuid))
        })
    }

    async fn agents(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<ListedIdentity<AgentId>>, StoreError> {
        let after = after.to_owned();
        run_to_end!(self.for_tenant("list agents", scope), |connection| {
            let rows = sqlx::query_as!(
                NamedRow,
                r#"select agent_id as id, name, created_at as "created_at: jiff_sqlx::Timestamp"
                   from agents where tenant_id = $1 and name > $2
                   order by name limit $3"#,
                scope.tenant().uuid(),
                after,
                LIST_ROWS_MAX
            );
            Ok(with_ids(rows.fetch_all(connection).await?, AgentId::from_uuid))
        })
    }

    async fn gateways(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<ListedGateway>, StoreError> {
        let after = after.to_owned();
        run_to_end!(self.for_tenant("list gateways", scope), |connection| {
            let page = sqlx::query_scalar!(
                "select gateway_id from gateways where tenant_id = $1 and name > $2
                 order by name limit $3",
                scope.tenant().uuid(),
                after,
                LIST_ROWS_MAX
            );
            let page = page.fetch_all(&mut *connection).await?;
            read_gateways(connection, scope, &page).await
        })
    }

    async fn gateways_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ListedGateway>, StoreError> {
        run_to_end!(self.for_tenant("list the gateways of an agent", scope), |connection| {
            let own = sqlx::query_scalar!(
                "select gateway_id from gateways where tenant_id = $1 and agent_id = $2
                 order by name limit $3",
                scope.tenant().uuid(),
                agent.uuid(),
                LIST_ROWS_MAX
            );
            let own = own.fetch_all(&mut *connection).await?;
            read_gateways(connection, scope, &own).await
        })
    }
}

/// Returns the id that a text is, as an id is displayed, in capital letters too. The other ways to write one are names.
fn parse_written_id(called: &str) -> Option<Uuid> {
    let id = Uuid::parse_str(called).ok()?;
    id.to_string().eq_ignore_ascii_case(called).then_some(id)
}

/// Reads these gateways, by name.
async fn read_gateways(
    connection: &mut PgConnection,
    scope: TenantScope,
    gateways: &[Uuid],
) -> sqlx::Result<Vec<ListedGateway>> {
    // A line whose node restarted is over, although no process closed it.
    let rows = sqlx::query!(
        r#"select g.gateway_id as "gateway_id!", g.name as "name!", a.name as "agent!",
               g.created_at as "created_at!: jiff_sqlx::Timestamp",
               g.revoked_at as "revoked_at: jiff_sqlx::Timestamp",
               l.opened_at as "opened_at?: jiff_sqlx::Timestamp",
               l.closed_at as "closed_at: jiff_sqlx::Timestamp",
               (l.closed_at is null and n.epoch = l.node_epoch) as open
           from gateways g
               join agents a on a.tenant_id = g.tenant_id and a.agent_id = g.agent_id
               left join lines l on l.tenant_id = g.tenant_id and l.agent_id = g.agent_id
                   and l.gateway_id = g.gateway_id
               left join nodes n on n.node = l.node
           where g.tenant_id = $1 and g.gateway_id = any ($2) order by g.name"#,
        scope.tenant().uuid(),
        gateways
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut secrets = live_secrets(connection, scope, gateways).await?;
    let gateways = rows.into_iter().map(|row| ListedGateway {
        name: row.name,
        agent: row.agent,
        created_at: row.created_at.to_jiff(),
        revoked_at: row.revoked_at.map(jiff_sqlx::Timestamp::to_jiff),
        line: match (row.opened_at, row.open) {
            (None, _) => LastLine::None,
            (Some(since), Some(true)) => LastLine::Open { since: since.to_jiff() },
            (Some(_), _) => {
                LastLine::Closed { at: row.closed_at.map(jiff_sqlx::Timestamp::to_jiff) }
            }
        },
        secrets: secrets.remove(&row.gateway_id).unwrap_or_default(),
    });
    Ok(gateways.collect())
}

async fn live_secrets(
    connection: &mut PgConnection,
    scope: TenantScope,
    gateways: &[Uuid],
) -> sqlx::Result<HashMap<Uuid, Vec<LiveSecret>>> {
    let rows = sqlx::query!(
        r#"select gateway_id, created_at as "created_at: jiff_sqlx::Timestamp",
               expires_at as "expires_at: jiff_sqlx::Timestamp"
           from gateway_secrets
           where tenant_id = $1 and gateway_id = any ($2) and coalesce(expires_at > now(), true)
           order by gateway_id, created_at"#,
        scope.tenant().uuid(),
        gateways
    )
    .fetch_all(connection)
    .await?;
    let mut secrets: HashMap<Uuid, Vec<LiveSecret>> = HashMap::new();
    for row in rows {
        secrets.entry(row.gateway_id).or_default().push(LiveSecret {
            created_at: row.created_at.to_jiff(),
            expires_at: row.expires_at.map(jiff_sqlx::Timestamp::to_jiff),
        });
    }
    Ok(secrets)
}

struct NamedRow {
    id: Uuid,
    name: String,
    created_at: jiff_sqlx::Timestamp,
}

fn with_ids<Id>(rows: Vec<NamedRow>, id: impl Fn(Uuid) -> Id) -> Vec<ListedIdentity<Id>> {
    let named = |row: NamedRow| ListedIdentity {
        id: id(row.id),
        name: row.name,
        created_at: row.created_at.to_jiff(),
    };
    rows.into_iter().map(named).collect()
}
