//! Further queries for managing an agent's reach.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::{AgentReach, Managing, OpenBot};
use nightdesk_types::limits::OPEN_BOTS_MAX;
use nightdesk_types::{
    AgentId, BotId, GatewayId, GrantTarget, Principal, Relevance, StoreError, TenantScope,
};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use super::audit::record_act;
use crate::Pg;
use crate::row::bad_column;
use crate::schedule::cancel_jobs;

#[async_trait]
impl Managing for Pg {
    async fn reach_of(&self, scope: TenantScope, agent: AgentId) -> Result<AgentReach, StoreError> {
        run_to_end!(self.for_tenant("read an agent's reach", scope), |connection| {
            let (tenant, agent) = (scope.tenant().uuid(), agent.uuid());
            let principal = sqlx::query_scalar!(
                "select principal from agents where tenant_id = $1 and agent_id = $2",
                tenant,
                agent
            )
            .fetch_one(&mut *connection)
            .await?;
            let (bound, listed) = people(connection, tenant, agent).await?;
            Ok(AgentReach {
                principal: read_principal(&principal)?,
                people: people_by_bot(bound),
                grants: grants(connection, tenant, agent).await?,
                listed: people_by_bot(listed),
                relevance: relevance(connection, tenant, agent).await?,
            })
        })
    }

    async fn open_bots(&self, scope: TenantScope) -> Result<Vec<OpenBot>, StoreError> {
        run_to_end!(self.single("find open bots"), |connection| {
            let rows = sqlx::query!(
                r#"select bot_id as "bot!", platform as "platform!", handle as "handle!",
                       is_own as "is_own!"
                   from door_open_bots($1, $2)"#,
                scope.tenant().uuid(),
                OPEN_BOTS_MAX
            )
            .fetch_all(connection)
            .await?;
            let bots = rows.into_iter().map(|row| OpenBot {
                id: BotId::from_uuid(row.bot),
                platform: row.platform,
                handle: row.handle,
                is_own: row.is_own,
            });
            Ok(bots.collect())
        })
    }

    async fn deprovision(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GatewayId>, StoreError> {
        run_to_end!(self.for_tenant("deprovision an agent", scope), |connection| {
            cancel_jobs(connection, scope, agent).await?;
            let revoked = sqlx::query_scalar!(
                r#"select gateway_id as "gateway!" from deprovision($1, $2)"#,
                scope.tenant().uuid(),
                agent.uuid()
            )
            .fetch_all(&mut *connection)
            .await?;
            let about = json!({ "agent_id": agent, "gateways": revoked.len() });
            record_act(connection, scope, Kind::AgentDeprovisioned, about).await?;
            Ok(revoked.into_iter().map(GatewayId::from_uuid).collect())
        })
    }

    async fn gateways_may_widen(&self, scope: TenantScope) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("read gateways' rights", scope), |connection| {
            sqlx::query_scalar!(
                "select gateways_may_widen from tenants where tenant_id = $1",
                scope.tenant().uuid()
            )
            .fetch_one(connection)
            .await
        })
    }

    async fn let_gateways_widen(&self, scope: TenantScope, may: bool) -> Result<(), StoreError> {
        run_to_end!(self.for_tenant("set gateways' rights", scope), |connection| {
            sqlx::query!(
                "update tenants set gateways_may_widen = $2 where tenant_id = $1",
                scope.tenant().uuid(),
                may
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn may_stop_others(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("read an agent's rights", scope), |connection| {
            let may = sqlx::query_scalar!(
                "select stops_others from agents where tenant_id = $1 and agent_id = $2",
                scope.tenant().uuid(),
                agent.uuid()
            );
            Ok(may.fetch_optional(connection).await?.unwrap_or(false))
        })
    }

    async fn let_stop_others(
        &self,
        scope: TenantScope,
        agent: AgentId,
        may: bool,
    ) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("set an agent's rights", scope), |connection| {
            let set = sqlx::query!(
                "update agents set stops_others = $3 where tenant_id = $1 and agent_id = $2",
                scope.tenant().uuid(),
                agent.uuid(),
                may
            );
            Ok(set.execute(connection).await?.rows_affected() > 0)
        })
    }
}

fn read_principal(slug: &str) -> sqlx::Result<Principal> {
    Principal::from_slug(slug).ok_or_else(|| bad_column("agents", "principal"))
}

/// A person bound to an agent or on its list.
struct Person {
    is_bound: bool,
    bot: Uuid,
    author: String,
}

/// Returns the people bound to an agent, and the further people on its list.
async fn people(
    connection: &mut PgConnection,
    tenant: Uuid,
    agent: Uuid,
) -> sqlx::Result<(Vec<Person>, Vec<Person>)> {
    let people = sqlx::query_as!(
        Person,
        r#"select true as "is_bound!", bot_id as "bot!", author_id as "author!"
           from bindings where tenant_id = $1 and agent_id = $2
           union all
           select false, bot_id, author_id
           from listed_authors where tenant_id = $1 and agent_id = $2
           order by 2, 3"#,
        tenant,
        agent
    )
    .fetch_all(connection)
    .await?;
    Ok(people.into_iter().partition(|person| person.is_bound))
}

fn people_by_bot(people: Vec<Person>) -> Vec<(BotId, String)> {
    people.into_iter().map(|person| (BotId::from_uuid(person.bot), person.author)).collect()
}

async fn grants(
    connection: &mut PgConnection,
    tenant: Uuid,
    agent: Uuid,
) -> sqlx::Result<Vec<(BotId, GrantTarget, Principal)>> {
    let rows = sqlx::query!(
        "select bot_id, scope_id, chat_id, principal from scope_grants
         where tenant_id = $1 and agent_id = $2 order by bot_id, scope_id, chat_id",
        tenant,
        agent
    )
    .fetch_all(connection)
    .await?;
    let grant = |bot, scope: String, chat: String, principal: String| {
        let scope = Some(scope.as_str()).filter(|scope| !scope.is_empty());
        Ok((
            BotId::from_uuid(bot),
            GrantTarget::for_chat(scope, &chat),
            read_principal(&principal)?,
        ))
    };
    rows.into_iter()
        .map(|row| grant(row.bot_id, row.scope_id, row.chat_id, row.principal))
        .collect()
}

async fn relevance(
    connection: &mut PgConnection,
    tenant: Uuid,
    agent: Uuid,
) -> sqlx::Result<Vec<(String, Relevance)>> {
    let rows = sqlx::query!(
        "select platform, require_address, free_scopes, allow_other_bots from relevance_policies
         where tenant_id = $1 and agent_id = $2 order by platform",
        tenant,
        agent
    )
    .fetch_all(connection)
    .await?;
    let relevance = rows.into_iter().map(|row| {
        let relevance = Relevance {
            require_address: row.require_address,
            free_scopes: row.free_scopes,
            allow_other_bots: row.allow_other_bots,
            ..Relevance::default()
        };
        (row.platform, relevance)
    });
    Ok(relevance.collect())
}
