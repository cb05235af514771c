//! Link codes.

use async_trait::async_trait;
use nightdesk_register::enrolment::Digest;
use nightdesk_register::{Linking, RedeemResult};
use nightdesk_types::limits::{LINK_CODE_LIFE, LINK_CODES_PER_HOUR, LINK_TRIES_PER_HOUR};
use nightdesk_types::{AgentId, BotId, StoreError, TenantId, TenantScope};
use uuid::Uuid;

use crate::Pg;
use crate::row::bad_column;

#[async_trait]
impl Linking for Pg {
    async fn enter_code(
        &self,
        scope: TenantScope,
        agent: AgentId,
        code: &Digest,
    ) -> Result<bool, StoreError> {
        let code = code.as_bytes().to_vec();
        run_to_end!(self.for_tenant("store a link code", scope), |connection| {
            // The lock serialises requests, so that two at the same time do not both pass the limit.
            sqlx::query!(
                "select from agents where tenant_id = $1 and agent_id = $2 for update",
                scope.tenant().uuid(),
                agent.uuid()
            )
            .fetch_one(&mut *connection)
            .await?;
            let entered = sqlx::query!(
                "insert into link_codes (tenant_id, code_sha256, agent_id, expires_at)
                 select $1, $3, $2, now() + make_interval(secs => $4)
                 where (
                     select count(*) from link_codes
                     where tenant_id = $1 and agent_id = $2
                       and created_at > now() - interval '1 hour'
                 ) < $5",
                scope.tenant().uuid(),
                agent.uuid(),
                code,
                LINK_CODE_LIFE.as_secs_f64(),
                LINK_CODES_PER_HOUR
            )
            .execute(connection)
            .await?;
            Ok(entered.rows_affected() == 1)
        })
    }

    async fn redeem(
        &self,
        bot: BotId,
        author: &str,
        code: &Digest,
    ) -> Result<RedeemResult, StoreError> {
        let (author, code) = (author.to_owned(), code.as_bytes().to_vec());
        run_to_end!(self.single("link a person"), |connection| {
            let row = sqlx::query!(
                r#"select outcome as "outcome!", tenant_id, agent_id, agent
                   from door_link($1, $2, $3, $4)"#,
                bot.uuid(),
                author,
                code,
                LINK_TRIES_PER_HOUR
            )
            .fetch_one(connection)
            .await?;
            link_outcome(&row.outcome, row.tenant_id.zip(row.agent_id).zip(row.agent))
        })
    }

    async fn share(
        &self,
        scope: TenantScope,
        bot: BotId,
        shared: bool,
    ) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("share a bot", scope), |connection| {
            let done = sqlx::query!(
                "update bots set shared = $3 where tenant_id = $1 and bot_id = $2",
                scope.tenant().uuid(),
                bot.uuid(),
                shared
            )
            .execute(connection)
            .await?;
            Ok(done.rows_affected() == 1)
        })
    }
}

fn link_outcome(
    outcome: &str,
    linked: Option<((Uuid, Uuid), String)>,
) -> sqlx::Result<RedeemResult> {
    Ok(match (outcome, linked) {
        ("linked", Some(((tenant, agent), name))) => RedeemResult::Linked {
            scope: TenantScope::for_tenant(TenantId::from_uuid(tenant)),
            agent: AgentId::from_uuid(agent),
            name,
        },
        ("unknown", _) => RedeemResult::Unknown,
        ("expired", _) => RedeemResult::Expired,
        ("used", _) => RedeemResult::Used,
        ("not-here", _) => RedeemResult::NotHere,
        ("too-many", _) => RedeemResult::TooMany,
        _ => return Err(bad_column("door_link", "outcome")),
    })
}
