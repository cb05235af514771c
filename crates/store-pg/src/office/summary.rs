//! The numbers of a tenant.

use nightdesk_office::{BoundedCount, TenantGlance};
use nightdesk_types::limits::{AGENT_COUNTED_MAX, SUMMARY_AGENTS_MAX, SUMMARY_COUNTED_MAX};
use sqlx::PgConnection;
use uuid::Uuid;

/// Counts a tenant's agents by state, and its waiting and parked entries.
pub(super) async fn glance_at_tenant(
    connection: &mut PgConnection,
    tenant: Uuid,
) -> sqlx::Result<TenantGlance> {
    let counted = count_rows(connection, tenant).await?;
    let needed = count_needed(connection, tenant).await?;
    let waiting = count_waiting(connection, tenant).await?;
    Ok(TenantGlance {
        waking: needed.waking,
        deaf: needed.deaf,
        unreachable: needed.unreachable,
        waiting: waiting.waiting,
        oldest_at: waiting.oldest_at,
        ..counted
    })
}

/// Counts the agents, the open lines and the parked entries of a tenant.
async fn count_rows(connection: &mut PgConnection, tenant: Uuid) -> sqlx::Result<TenantGlance> {
    let row = sqlx::query!(
        r#"select (
               select count(*) from (
                   select from agents a where a.tenant_id = $1 limit $2
               ) as enough
           ) as "agents!", (
               select count(*) from (
                   select from lines l where l.tenant_id = $1 and l.closed_at is null limit $2
               ) as enough
           ) as "awake!", (
               select count(*) from (
                   select from inbox_parked p where p.tenant_id = $1 and p.resubmitted_as is null
                   limit $2
               ) as enough
           ) as "parked!""#,
        tenant,
        SUMMARY_COUNTED_MAX + 1
    )
    .fetch_one(connection)
    .await?;
    let count = |read| BoundedCount::new(read, SUMMARY_COUNTED_MAX);
    Ok(TenantGlance {
        agents: count(row.agents),
        awake: count(row.awake),
        parked: count(row.parked),
        ..TenantGlance::default()
    })
}

/// Counts the agents of a tenant that are needed and have not dialled in.
async fn count_needed(connection: &mut PgConnection, tenant: Uuid) -> sqlx::Result<TenantGlance> {
    let rows = sqlx::query!(
        r#"select w.state as "state!", coalesce((
               select l.closed_at is null from lines l
               where l.tenant_id = $1 and l.agent_id = w.agent_id
           ), false) as "has_line!", count(*) as "agents!"
           from (
               select w.agent_id, w.state from wakes w
               where w.tenant_id = $1 and w.state in ('due', 'held', 'unreachable')
               order by w.since limit $2
           ) as w
           group by 1, 2"#,
        tenant,
        SUMMARY_COUNTED_MAX + 1
    )
    .fetch_all(connection)
    .await?;
    let is_more = rows.iter().map(|row| row.agents).sum::<i64>() > SUMMARY_COUNTED_MAX;
    let mut glance = TenantGlance::default();
    for row in rows {
        let is_given_up = row.state == "unreachable";
        let count = match (is_given_up, row.has_line) {
            (false, false) => &mut glance.waking,
            (false, true) => &mut glance.deaf,
            (true, false) => &mut glance.unreachable,
            // It dialled in at this moment.
            (true, true) => continue,
        };
        *count = count.plus(BoundedCount { count: row.agents.unsigned_abs(), is_more });
    }
    Ok(glance)
}

/// Counts the entries that wait for agents that are needed or awake, and finds the oldest.
async fn count_waiting(connection: &mut PgConnection, tenant: Uuid) -> sqlx::Result<TenantGlance> {
    let row = sqlx::query!(
        r#"with needed as materialized (
               (
                   select w.agent_id from wakes w
                   where w.tenant_id = $1 and w.state in ('due', 'held', 'unreachable')
                   order by w.since limit $2
               )
               union
               (
                   select l.agent_id from lines l
                   where l.tenant_id = $1 and l.closed_at is null limit $2
               )
           )
           select coalesce(sum(least(e.entries, $3 - 1)), 0)::bigint as "entries!",
               count(*) >= $2 or coalesce(bool_or(e.entries >= $3), false) as "is_more!",
               min(e.oldest_at) as "oldest_at: jiff_sqlx::Timestamp"
           from needed n
               cross join lateral (
                   select c.acked_seq, c.acked_at, c.ahead from inbox_cursors c
                   where c.tenant_id = $1 and c.agent_id = n.agent_id limit 1
               ) as c
               cross join lateral (
                   select count(*) as entries, min(e.at) as oldest_at from (
                       select e.at from inbox_entries e
                       where e.tenant_id = $1 and e.agent_id = n.agent_id
                         and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
                       order by e.seq limit $3::bigint
                   ) as e
               ) as e"#,
        tenant,
        SUMMARY_AGENTS_MAX,
        AGENT_COUNTED_MAX + 1
    )
    .fetch_one(connection)
    .await?;
    Ok(TenantGlance {
        waiting: BoundedCount { count: row.entries.unsigned_abs(), is_more: row.is_more },
        oldest_at: row.oldest_at.map(jiff_sqlx::Timestamp::to_jiff),
        ..TenantGlance::default()
    })
}
