//! Events that reached no agent, by reason.

use std::collections::BTreeMap;

use async_trait::async_trait;
use nightdesk_gate::{Refusal, RefusalNote, StoredRefusal};
use nightdesk_inbox::ParkReason;
use nightdesk_office::{
    BoundedCount, ParkedGroup, ParkedKey, ParkedRow, QuarantineGroup, RefusalGroup, StuckReads,
};
use nightdesk_types::limits::{
    LIST_ROWS_MAX, QUARANTINE_KEPT_MAX, REFUSALS_KEPT_MAX, SUMMARY_COUNTED_MAX,
};
use nightdesk_types::{AgentId, BotId, Seq, StoreError, TenantScope, Timestamp};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::row::{bad_column, moment};

#[async_trait]
impl StuckReads for Pg {
    async fn parked_groups(&self, scope: TenantScope) -> Result<Vec<ParkedGroup>, StoreError> {
        let tenant = scope.tenant().uuid();
        run_to_end!(self.for_tenant("group parked entries", scope), |connection| {
            let mut groups = Vec::new();
            for reason in ParkReason::ALL {
                groups.extend(parked_group(connection, tenant, reason).await?);
            }
            Ok(groups)
        })
    }

    async fn parked_rows(
        &self,
        scope: TenantScope,
        reason: ParkReason,
        after: Option<ParkedKey>,
    ) -> Result<Vec<ParkedRow>, StoreError> {
        let (at, agent, seq) = after.map_or((None, None, None), |key| {
            (Some(moment(key.parked_at)), Some(key.agent.uuid()), Some(key.seq.get()))
        });
        run_to_end!(self.for_tenant("list parked entries", scope), |connection| {
            let rows = sqlx::query_as!(
                StuckRow,
                r#"select p.agent_id as "agent_id!", a.name as "agent_name!", p.seq as "seq!",
                       p.at as "at!: jiff_sqlx::Timestamp", p.bot_id as "bot_id!",
                       p.chat_id as "chat_id!", p.parked_at as "parked_at!: jiff_sqlx::Timestamp"
                   from (
                       select p.agent_id, p.seq, p.at, p.bot_id, p.chat_id, p.parked_at
                       from inbox_parked p
                       where p.tenant_id = $1 and p.reason = $2 and p.resubmitted_as is null
                         and (p.parked_at, p.agent_id, p.seq)
                             > (coalesce($3, '-infinity'::timestamptz),
                                coalesce($4, '00000000-0000-0000-0000-000000000000'::uuid),
                                coalesce($5, 0::bigint))
                       order by p.parked_at, p.agent_id, p.seq limit $6
                   ) as p
                       join agents a on a.tenant_id = $1 and a.agent_id = p.agent_id
                   order by p.parked_at, p.agent_id, p.seq"#,
                scope.tenant().uuid(),
                reason.slug(),
                at as Option<jiff_sqlx::Timestamp>,
                agent,
                seq,
                LIST_ROWS_MAX
            )
            .fetch_all(connection)
            .await?;
            Ok(rows.into_iter().map(StuckRow::parked_row).collect())
        })
    }

    async fn refusal_groups(&self, scope: TenantScope) -> Result<Vec<RefusalGroup>, StoreError> {
        run_to_end!(self.for_tenant("group refusals", scope), |connection| {
            let rows = sqlx::query!(
                r#"select distinct on (r.reason) r.reason, r.at as "at: jiff_sqlx::Timestamp",
                       r.bot_id, r.event_key, r.agent_id,
                       count(*) over (partition by r.reason) as "count!"
                   from (
                       select * from refusals where tenant_id = $1 limit $2
                   ) as r
                   order by r.reason, r.number desc"#,
                scope.tenant().uuid(),
                REFUSALS_KEPT_MAX
            )
            .fetch_all(connection)
            .await?;
            let groups = rows.into_iter().map(|row| {
                let refusal = Refusal::from_slug(&row.reason);
                let refusal = refusal.ok_or_else(|| bad_column("refusals", "reason"))?;
                let note = RefusalNote {
                    scope,
                    bot: BotId::from_uuid(row.bot_id),
                    event_key: row.event_key,
                    agent: row.agent_id.map(AgentId::from_uuid),
                    refusal,
                };
                let newest = StoredRefusal { at: row.at.to_jiff(), note };
                Ok((
                    refusal.slug(),
                    RefusalGroup { refusal, count: row.count.unsigned_abs(), newest },
                ))
            });
            let groups: BTreeMap<_, _> = groups.collect::<sqlx::Result<_>>()?;
            Ok(groups.into_values().collect())
        })
    }

    async fn quarantine_groups(
        &self,
        scope: TenantScope,
    ) -> Result<Vec<QuarantineGroup>, StoreError> {
        run_to_end!(self.for_tenant("group unreadable events", scope), |connection| {
            let rows = sqlx::query!(
                r#"select q.bot_id, q.problem, count(*) as "count!",
                       max(q.at) as "newest_at!: jiff_sqlx::Timestamp"
                   from (
                       select bot_id, problem, at from quarantined where tenant_id = $1 limit $2
                   ) as q
                   group by 1, 2 order by 1, 2 limit $3"#,
                scope.tenant().uuid(),
                QUARANTINE_KEPT_MAX,
                LIST_ROWS_MAX
            )
            .fetch_all(connection)
            .await?;
            let groups = rows.into_iter().map(|row| QuarantineGroup {
                bot: BotId::from_uuid(row.bot_id),
                problem: row.problem,
                count: row.count.unsigned_abs(),
                newest_at: row.newest_at.to_jiff(),
            });
            Ok(groups.collect())
        })
    }
}

/// Counts the parked entries with a reason, and reads the newest.
async fn parked_group(
    connection: &mut PgConnection,
    tenant: Uuid,
    reason: ParkReason,
) -> sqlx::Result<Option<ParkedGroup>> {
    let newest = sqlx::query_as!(
        StuckRow,
        r#"select p.agent_id as "agent_id!", a.name as "agent_name!", p.seq as "seq!",
               p.at as "at!: jiff_sqlx::Timestamp", p.bot_id as "bot_id!", p.chat_id as "chat_id!",
               p.parked_at as "parked_at!: jiff_sqlx::Timestamp"
           from (
               select p.agent_id, p.seq, p.at, p.bot_id, p.chat_id, p.parked_at
               from inbox_parked p
               where p.tenant_id = $1 and p.reason = $2 and p.resubmitted_as is null
               order by p.parked_at desc, p.agent_id desc, p.seq desc limit 1
           ) as p
               join agents a on a.tenant_id = $1 and a.agent_id = p.agent_id"#,
        tenant,
        reason.slug()
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(newest) = newest.map(StuckRow::parked_row) else { return Ok(None) };
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (
               select from inbox_parked p
               where p.tenant_id = $1 and p.reason = $2 and p.resubmitted_as is null
               limit $3
           ) as enough"#,
        tenant,
        reason.slug(),
        SUMMARY_COUNTED_MAX + 1
    )
    .fetch_one(connection)
    .await?;
    let count = BoundedCount::new(count, SUMMARY_COUNTED_MAX);
    Ok(Some(ParkedGroup { reason, count, newest }))
}

struct StuckRow {
    agent_id: Uuid,
    agent_name: String,
    seq: i64,
    at: jiff_sqlx::Timestamp,
    bot_id: Uuid,
    chat_id: String,
    parked_at: jiff_sqlx::Timestamp,
}

impl StuckRow {
    fn parked_row(self) -> ParkedRow {
        let parked_at: Timestamp = self.parked_at.to_jiff();
        let (agent, seq) = (AgentId::from_uuid(self.agent_id), Seq::new(self.seq));
        ParkedRow {
            key: ParkedKey { parked_at, agent, seq },
            agent_name: self.agent_name,
            at: self.at.to_jiff(),
            bot: BotId::from_uuid(self.bot_id),
            chat_id: self.chat_id,
        }
    }
}
