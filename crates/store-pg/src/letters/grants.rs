//! Grants for letters between tenants, each from one side.

use async_trait::async_trait;
use nightdesk_letters::{Grant, Grants, Party};
use nightdesk_register::audit::Kind;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope};
use serde_json::{Value, json};

use crate::Pg;
use crate::register::audit::record_act;

#[async_trait]
impl Grants for Pg {
    async fn grant(&self, party: Party, peer: Party) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("grant letters", party.scope), |connection| {
            let done = sqlx::query!(
                "insert into letter_grants (tenant_id, agent_id, peer_tenant_id, peer_agent_id)
                 values ($1, $2, $3, $4) on conflict do nothing",
                party.scope.tenant().uuid(),
                party.agent.uuid(),
                peer.scope.tenant().uuid(),
                peer.agent.uuid()
            )
            .execute(&mut *connection)
            .await?;
            let is_news = done.rows_affected() == 1;
            if is_news {
                record_act(
                    connection,
                    party.scope,
                    Kind::LettersGranted,
                    grant_details(party, peer),
                )
                .await?;
            }
            Ok(is_news)
        })
    }

    async fn release(&self, party: Party, peer: Party) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("revoke a grant of letters", party.scope), |connection| {
            let done = sqlx::query!(
                "delete from letter_grants
                 where tenant_id = $1 and agent_id = $2 and peer_tenant_id = $3
                   and peer_agent_id = $4",
                party.scope.tenant().uuid(),
                party.agent.uuid(),
                peer.scope.tenant().uuid(),
                peer.agent.uuid()
            )
            .execute(&mut *connection)
            .await?;
            let was_there = done.rows_affected() == 1;
            if was_there {
                let about = grant_details(party, peer);
                record_act(connection, party.scope, Kind::LettersReleased, about).await?;
            }
            Ok(was_there)
        })
    }

    async fn grants(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        at_most: usize,
    ) -> Result<Vec<Grant>, StoreError> {
        run_to_end!(self.single("list grants of letters"), |connection| {
            let rows = sqlx::query!(
                r#"select agent as "agent!", peer_tenant as "peer_tenant!",
                       peer_agent as "peer_agent!",
                       granted_at as "granted_at!: jiff_sqlx::Timestamp",
                       is_mutual as "is_mutual!"
                   from letter_grants_of(works_for($1), $2, $3)"#,
                scope.tenant().uuid(),
                agent.map(AgentId::uuid),
                i64::try_from(at_most).unwrap_or(i64::MAX)
            )
            .fetch_all(connection)
            .await?;
            let grants = rows.into_iter().map(|row| Grant {
                party: Party { scope, agent: AgentId::from_uuid(row.agent) },
                peer: Party {
                    scope: TenantScope::for_tenant(TenantId::from_uuid(row.peer_tenant)),
                    agent: AgentId::from_uuid(row.peer_agent),
                },
                granted_at: row.granted_at.to_jiff(),
                is_mutual: row.is_mutual,
            });
            Ok(grants.collect())
        })
    }
}

fn grant_details(party: Party, peer: Party) -> Value {
    json!({
        "agent_id": party.agent,
        "peer_tenant_id": peer.scope.tenant(),
        "peer_agent_id": peer.agent,
    })
}
