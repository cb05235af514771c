//! The usage of tenants, and the nodes of the desk.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_office::{BoundedCount, NodeRecord, StoredTotals, UsageReads, UsageTotals};
use nightdesk_types::limits::{LIST_ROWS_MAX, NODE_LINES_COUNTED_MAX, USAGE_TENANTS_MAX};
use nightdesk_types::{NodeEpoch, StoreError, TenantId, TenantScope, Timestamp};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::row::moment;

/// Longest list of hours: a row for each hour of some days, and one for each day before.
const HOURS_MAX: i64 = 1_000;

#[async_trait]
impl UsageReads for Pg {
    async fn sample_usage(
        &self,
        after: Option<TenantId>,
        every: Duration,
    ) -> Result<Option<TenantId>, StoreError> {
        run_to_end!(self.upkeep("sample the usage of tenants"), |connection| {
            let last = sqlx::query_scalar!(
                "select sample_usage($1, make_interval(secs => $2), $3)",
                after.map(TenantId::uuid),
                every.as_secs_f64(),
                USAGE_TENANTS_MAX
            )
            .fetch_one(connection)
            .await?;
            Ok(last.map(TenantId::from_uuid))
        })
    }

    async fn usage(
        &self,
        scope: TenantScope,
        since: Timestamp,
    ) -> Result<Vec<UsageTotals>, StoreError> {
        run_to_end!(self.for_tenant("read the usage of a tenant", scope), |connection| {
            let rows = sqlx::query_as!(
                TotalsRow,
                r#"select hour as "hour!: jiff_sqlx::Timestamp",
                       sampled_at as "sampled_at!: jiff_sqlx::Timestamp", agents as "agents!",
                       messages as "messages!", wakes as "wakes!", awake_ms as "awake_ms!",
                       fires as "fires!"
                   from (
                       select * from tenant_usage where tenant_id = $1 and hour >= $2
                       union all
                       (
                           select * from tenant_usage where tenant_id = $1 and hour < $2
                           order by hour desc limit 1
                       )
                   ) as u
                   order by hour limit $3"#,
                scope.tenant().uuid(),
                moment(since) as jiff_sqlx::Timestamp,
                HOURS_MAX
            )
            .fetch_all(connection)
            .await?;
            Ok(rows.into_iter().map(UsageTotals::from).collect())
        })
    }

    async fn newest_usage(
        &self,
        tenants: &[TenantScope],
        before: Timestamp,
    ) -> Result<Vec<StoredTotals>, StoreError> {
        let ids: Vec<Uuid> = tenants.iter().map(|scope| scope.tenant().uuid()).collect();
        let desk = TenantScope::desk_own();
        run_to_end!(self.for_tenant("read the usage of tenants", desk), |connection| {
            sqlx::query_scalar!("select works_for_all($1)", &ids)
                .fetch_one(&mut *connection)
                .await?;
            let newest = newest_totals(connection, &ids, None).await?;
            let mut older: HashMap<Uuid, UsageTotals> =
                newest_totals(connection, &ids, Some(before)).await?.into_iter().collect();
            let totals = newest.into_iter().map(|(tenant, newest)| StoredTotals {
                tenant: TenantId::from_uuid(tenant),
                newest,
                before: older.remove(&tenant),
            });
            Ok(totals.collect())
        })
    }

    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        run_to_end!(self.single("list nodes"), |connection| {
            let rows = sqlx::query!(
                r#"with shown as materialized (
                       select * from nodes order by node limit $1
                   )
                   select n.node as "node!", n.epoch as "epoch!",
                       n.started_at as "started_at!: jiff_sqlx::Timestamp",
                       least(n.expires_at, clock_timestamp() + interval '1 day')
                           as "expires_at!: jiff_sqlx::Timestamp",
                       n.is_over as "is_over!", coalesce(l.lines, 0) as "lines!"
                   from shown n
                       left join door_node_lines(
                           array(select s.node from shown s order by s.node),
                           array(select s.epoch from shown s order by s.node), $2
                       ) as l on l.node = n.node
                   order by n.node"#,
                LIST_ROWS_MAX,
                NODE_LINES_COUNTED_MAX + 1
            )
            .fetch_all(connection)
            .await?;
            let nodes = rows.into_iter().map(|row| NodeRecord {
                name: row.node,
                epoch: NodeEpoch::new(row.epoch),
                started_at: row.started_at.to_jiff(),
                expires_at: row.expires_at.to_jiff(),
                is_over: row.is_over,
                lines: BoundedCount::new(row.lines, i64::from(NODE_LINES_COUNTED_MAX)),
            });
            Ok(nodes.collect())
        })
    }
}

/// Returns the newest totals of each of these tenants: of all hours, or of hours before a time.
async fn newest_totals(
    connection: &mut PgConnection,
    tenants: &[Uuid],
    before: Option<Timestamp>,
) -> sqlx::Result<Vec<(Uuid, UsageTotals)>> {
    let rows = sqlx::query!(
        r#"select t.tenant as "tenant!", u.hour as "hour!: jiff_sqlx::Timestamp",
               u.sampled_at as "sampled_at!: jiff_sqlx::Timestamp", u.agents as "agents!",
               u.messages as "messages!", u.wakes as "wakes!", u.awake_ms as "awake_ms!",
               u.fires as "fires!"
           from unnest($1::uuid[]) as t (tenant)
               cross join lateral (
                   select * from tenant_usage u
                   where u.tenant_id = t.tenant and u.hour < coalesce($2, 'infinity'::timestamptz)
                   order by u.hour desc limit 1
               ) as u"#,
        tenants,
        before.map(moment) as Option<jiff_sqlx::Timestamp>
    )
    .fetch_all(connection)
    .await?;
    let totals = rows.into_iter().map(|row| {
        let totals = TotalsRow {
            hour: row.hour,
            sampled_at: row.sampled_at,
            agents: row.agents,
            messages: row.messages,
            wakes: row.wakes,
            awake_ms: row.awake_ms,
            fires: row.fires,
        };
        (row.tenant, totals.into())
    });
    Ok(totals.collect())
}

struct TotalsRow {
    hour: jiff_sqlx::Timestamp,
    sampled_at: jiff_sqlx::Timestamp,
    agents: i64,
    messages: i64,
    wakes: i64,
    awake_ms: i64,
    fires: i64,
}

impl From<TotalsRow> for UsageTotals {
    fn from(row: TotalsRow) -> Self {
        Self {
            hour: row.hour.to_jiff(),
            sampled_at: row.sampled_at.to_jiff(),
            agents: row.agents,
            messages: row.messages,
            wakes: row.wakes,
            awake_ms: row.awake_ms,
            fires: row.fires,
        }
    }
}
