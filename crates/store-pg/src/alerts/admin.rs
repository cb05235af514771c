//! The view of a tenant, or of the operator, on alerts and ways.

use async_trait::async_trait;
use nightdesk_alerts::{
    Alert, AlertAdmin, AlertWay, ListedAlertWay, NamedAlert, NewAlertWay, WayCreation, WayTest,
};
use nightdesk_types::limits::{ALERT_TEST_EVERY, ALERT_WAYS_MAX, LIST_ROWS_MAX};
use nightdesk_types::{AlertWayId, StoreError, TenantScope};
use sqlx::PgConnection;
use uuid::Uuid;

use super::rows::AlertRecord;
use super::ways::{TargetColumns, WayRecord};
use crate::Pg;

#[async_trait]
impl AlertAdmin for Pg {
    async fn alerts(&self, scope: TenantScope) -> Result<Vec<Alert>, StoreError> {
        run_to_end!(self.for_tenant("list alerts", scope), |connection| {
            let records = sqlx::query_as!(
                AlertRecord,
                r#"select tenant_id as tenant, kind, opened_at as "opened_at: jiff_sqlx::Timestamp",
                       seen_at as "seen_at: jiff_sqlx::Timestamp",
                       resolved_at as "resolved_at: jiff_sqlx::Timestamp", version,
                       changed_at as "changed_at: jiff_sqlx::Timestamp", repeats, is_return, count,
                       subjects, samples, since as "since: jiff_sqlx::Timestamp"
                   from alerts where tenant_id = $1
                   order by resolved_at is not null, changed_at desc, kind"#,
                scope.tenant().uuid()
            )
            .fetch_all(connection)
            .await?;
            records.into_iter().map(AlertRecord::into_alert).collect()
        })
    }

    async fn open_alerts(&self) -> Result<Vec<NamedAlert>, StoreError> {
        run_to_end!(self.single("list open alerts"), |connection| {
            let rows = sqlx::query!(
                r#"select (alert).tenant_id as "tenant!", (alert).kind as "kind!",
                       (alert).opened_at as "opened_at!: jiff_sqlx::Timestamp",
                       (alert).seen_at as "seen_at!: jiff_sqlx::Timestamp",
                       (alert).resolved_at as "resolved_at: jiff_sqlx::Timestamp",
                       (alert).version as "version!",
                       (alert).changed_at as "changed_at!: jiff_sqlx::Timestamp",
                       (alert).repeats as "repeats!", (alert).is_return as "is_return!",
                       (alert).count as "count!", (alert).subjects as "subjects!",
                       (alert).samples as "samples!",
                       (alert).since as "since!: jiff_sqlx::Timestamp", tenant_name
                   from door_open_alerts($1)"#,
                i32::try_from(LIST_ROWS_MAX).unwrap_or(i32::MAX)
            )
            .fetch_all(connection)
            .await?;
            let named = rows.into_iter().map(|row| {
                let record = AlertRecord {
                    tenant: row.tenant,
                    kind: row.kind,
                    opened_at: row.opened_at,
                    seen_at: row.seen_at,
                    resolved_at: row.resolved_at,
                    version: row.version,
                    changed_at: row.changed_at,
                    repeats: row.repeats,
                    is_return: row.is_return,
                    count: row.count,
                    subjects: row.subjects,
                    samples: row.samples,
                    since: row.since,
                };
                Ok(NamedAlert { alert: record.into_alert()?, tenant_name: row.tenant_name })
            });
            named.collect()
        })
    }

    async fn alert_ways(&self, scope: TenantScope) -> Result<Vec<ListedAlertWay>, StoreError> {
        run_to_end!(self.for_tenant("list ways for alerts", scope), |connection| {
            let rows = sqlx::query!(
                r#"select way_id, kind, target, salt, agent_tenant, agent_id, bot_id, coverage,
                       created_at as "created_at: jiff_sqlx::Timestamp",
                       told_at as "told_at: jiff_sqlx::Timestamp", failure
                   from alert_ways where tenant_id = $1 order by created_at, way_id limit $2"#,
                scope.tenant().uuid(),
                ALERT_WAYS_MAX
            )
            .fetch_all(connection)
            .await?;
            let ways = rows.into_iter().map(|row| {
                let record = WayRecord {
                    tenant: scope.tenant().uuid(),
                    way: row.way_id,
                    kind: row.kind,
                    target: row.target,
                    salt: row.salt,
                    agent_tenant: row.agent_tenant,
                    agent: row.agent_id,
                    bot: row.bot_id,
                    coverage: row.coverage,
                };
                Ok(ListedAlertWay {
                    way: record.into_way()?,
                    created_at: row.created_at.to_jiff(),
                    told_at: row.told_at.map(jiff_sqlx::Timestamp::to_jiff),
                    failure: row.failure,
                })
            });
            ways.collect()
        })
    }

    async fn add_alert_way(
        &self,
        scope: TenantScope,
        new: &NewAlertWay,
    ) -> Result<WayCreation, StoreError> {
        let new = new.clone();
        run_to_end!(self.for_tenant("add a way for alerts", scope), |connection| {
            lock_ways(connection, scope).await?;
            if count_ways(connection, scope).await? >= ALERT_WAYS_MAX {
                return Ok(WayCreation::TooMany);
            }
            let TargetColumns { kind, target, salt, agent_tenant, agent, bot } =
                TargetColumns::new(&new.target);
            let way = sqlx::query_scalar!(
                "insert into alert_ways (
                     tenant_id, kind, target, salt, agent_tenant, agent_id, bot_id, coverage
                 ) values ($1, $2, $3, $4, $5, $6, $7, $8)
                 on conflict on constraint alert_ways_one_per_target do nothing returning way_id",
                scope.tenant().uuid(),
                kind,
                target,
                salt,
                agent_tenant,
                agent,
                bot,
                new.coverage.slug()
            )
            .fetch_optional(connection)
            .await?;
            let NewAlertWay { target, coverage } = new;
            Ok(way.map_or(WayCreation::Exists, |way| {
                WayCreation::Created(AlertWay {
                    scope,
                    id: AlertWayId::from_uuid(way),
                    target,
                    coverage,
                })
            }))
        })
    }

    async fn remove_alert_way(
        &self,
        scope: TenantScope,
        way: AlertWayId,
    ) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("remove a way for alerts", scope), |connection| {
            let removed = sqlx::query!(
                "delete from alert_ways where tenant_id = $1 and way_id = $2",
                scope.tenant().uuid(),
                way.uuid()
            )
            .execute(connection)
            .await?;
            Ok(removed.rows_affected() == 1)
        })
    }

    async fn claim_way_test(
        &self,
        scope: TenantScope,
        way: AlertWayId,
    ) -> Result<WayTest, StoreError> {
        run_to_end!(self.for_tenant("test a way for alerts", scope), |connection| {
            let claimed = sqlx::query_as!(
                WayRecord,
                "update alert_ways set tested_at = now()
                 where tenant_id = $1 and way_id = $2
                   and coalesce(tested_at <= now() - make_interval(secs => $3), true)
                 returning tenant_id as tenant, way_id as way, kind, target, salt, agent_tenant,
                     agent_id as agent, bot_id as bot, coverage",
                scope.tenant().uuid(),
                way.uuid(),
                ALERT_TEST_EVERY.as_secs_f64()
            )
            .fetch_optional(&mut *connection)
            .await?;
            if let Some(record) = claimed {
                return Ok(WayTest::Claimed(record.into_way()?));
            }
            let is_known = way_exists(connection, scope, way.uuid()).await?;
            Ok(if is_known { WayTest::TooSoon } else { WayTest::Unknown })
        })
    }
}

/// Locks the ways of a tenant, or of the desk, so that of two that are added at once the later sees the earlier.
async fn lock_ways(connection: &mut PgConnection, scope: TenantScope) -> sqlx::Result<()> {
    sqlx::query!(
        "select pg_advisory_xact_lock(hashtextextended('alert_ways/' || $1::text, 0))",
        scope.tenant().to_string()
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn count_ways(connection: &mut PgConnection, scope: TenantScope) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select count(*) as "count!" from alert_ways where tenant_id = $1"#,
        scope.tenant().uuid()
    )
    .fetch_one(connection)
    .await
}

async fn way_exists(
    connection: &mut PgConnection,
    scope: TenantScope,
    way: Uuid,
) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (
               select from alert_ways where tenant_id = $1 and way_id = $2
           ) as "exists!""#,
        scope.tenant().uuid(),
        way
    )
    .fetch_one(connection)
    .await
}
