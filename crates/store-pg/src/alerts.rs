//! The store of alerts. Each method locks, reads the facts, calls `nightdesk-alerts`, and writes, in one transaction.

mod rows;
mod ways;
mod due;
mod admin;

use async_trait::async_trait;
use nightdesk_alerts::{
    Alert, AlertCause, AlertDelivery, AlertKind, AlertOutcome, AlertStore, AlertUpdate, CauseScan,
    DeliveryClaim, NodeFinding, decide_alerts, decide_delivery, one_line, record_delivery,
};
use nightdesk_types::limits::{
    ALERT_CALLS_MIN, ALERT_CAUSES_MAX, ALERT_DUE_WITHIN, ALERT_EVENT_FOR, ALERT_FULL_FOR,
    ALERT_LOSS_FOR, ALERT_QUOTA_PERCENT, ALERT_SAMPLES_MAX, FINDINGS_LAST,
};
use nightdesk_types::{StoreError, TenantId, TenantScope, Timestamp};
use sqlx::PgConnection;
use uuid::Uuid;

use self::due::{DeliveryWrite, DueAlert, read_due_alerts, write_deliveries};
use self::rows::{AlertRecord, write_alerts};
use self::ways::WayKey;
use crate::Pg;
use crate::row::bad_column;

#[async_trait]
impl AlertStore for Pg {
    async fn report_findings(
        &self,
        node: &str,
        findings: &[NodeFinding],
    ) -> Result<(), StoreError> {
        let node = node.to_owned();
        let kinds: Vec<String> =
            findings.iter().map(|found| found.kind.slug().to_owned()).collect();
        let subjects: Vec<String> = findings.iter().map(|found| one_line(&found.subject)).collect();
        let scope = TenantScope::desk_own();
        run_to_end!(self.for_tenant("store the findings of a node", scope), |connection| {
            sqlx::query!(
                "insert into node_findings as n (node, nth, kind, subject, since, reported_at)
                 select $1, f.nth, f.kind, f.subject, now(), now()
                 from unnest($2::text[], $3::text[]) with ordinality as f (kind, subject, nth)
                 on conflict (node, nth) do update
                 set kind = excluded.kind, subject = excluded.subject,
                     since = case when n.kind = excluded.kind then n.since else excluded.since end,
                     reported_at = excluded.reported_at",
                node,
                &kinds,
                &subjects
            )
            .execute(&mut *connection)
            .await?;
            sqlx::query!(
                "delete from node_findings where node = $1 and nth > $2",
                node,
                count(kinds.len())
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn find_causes(&self, kinds: &[AlertKind]) -> Result<CauseScan, StoreError> {
        let kinds = kinds.to_vec();
        let slugs: Vec<String> = kinds.iter().map(|kind| kind.slug().to_owned()).collect();
        run_to_end!(self.upkeep("look for causes of alerts"), |connection| {
            let rows = sqlx::query!(
                r#"select tenant_id as "tenant!", kind as "kind!", count as "count!",
                       subjects as "subjects!", samples as "samples!",
                       since as "since!: jiff_sqlx::Timestamp"
                   from door_alert_causes(
                       $1, make_interval(secs => $2), make_interval(secs => $3),
                       make_interval(secs => $4), $5, $6, make_interval(secs => $7), $8, $9
                   )"#,
                &slugs,
                ALERT_FULL_FOR.as_secs_f64(),
                ALERT_EVENT_FOR.as_secs_f64(),
                ALERT_LOSS_FOR.as_secs_f64(),
                i32::try_from(ALERT_CALLS_MIN).unwrap_or(i32::MAX),
                ALERT_QUOTA_PERCENT,
                FINDINGS_LAST.as_secs_f64(),
                count(ALERT_SAMPLES_MAX),
                count(ALERT_CAUSES_MAX)
            )
            .fetch_all(connection)
            .await?;
            let is_complete = rows.len() < ALERT_CAUSES_MAX;
            let causes = rows.into_iter().map(|row| {
                Ok(AlertCause {
                    scope: TenantScope::for_tenant(TenantId::from_uuid(row.tenant)),
                    kind: read_kind(&row.kind)?,
                    count: row.count.unsigned_abs(),
                    subjects: row.subjects.unsigned_abs(),
                    samples: row.samples.iter().map(|sample| one_line(sample)).collect(),
                    since: row.since.to_jiff(),
                })
            });
            let causes = causes.collect::<sqlx::Result<_>>()?;
            Ok(CauseScan { kinds, causes, is_complete })
        })
    }

    async fn apply_scan(&self, scan: &CauseScan) -> Result<AlertUpdate, StoreError> {
        let scan = scan.clone();
        run_to_end!(self.across_tenants("change alerts"), |connection| {
            let alerts = lock_alerts(connection, &scan).await?;
            let now = read_time(connection).await?;
            let changes = decide_alerts(&alerts, &scan, now);
            if !changes.is_empty() {
                work_for(connection, changes.iter().map(|change| change.alert.scope)).await?;
                write_alerts(connection, &changes).await?;
            }
            Ok(AlertUpdate::new(&alerts, changes))
        })
    }

    async fn claim_deliveries(&self, at_most: usize) -> Result<Vec<DeliveryClaim>, StoreError> {
        run_to_end!(self.across_tenants("claim messages about alerts"), |connection| {
            let due = read_due_alerts(connection, ALERT_DUE_WITHIN, count(at_most)).await?;
            if due.is_empty() {
                return Ok(Vec::new());
            }
            let now = read_time(connection).await?;
            let (mut writes, mut claims) = (Vec::new(), Vec::new());
            for DueAlert { alert, tenant_name, way, delivery } in due {
                let Some(decision) = decide_delivery(&alert, delivery.as_ref(), now) else {
                    continue;
                };
                let (scope, kind, failures) = (alert.scope, alert.kind, decision.row.failures);
                let key = WayKey::new(&way);
                writes.push(DeliveryWrite { scope, kind, way: key, row: decision.row });
                claims.extend(decision.sends.map(|news| DeliveryClaim {
                    alert,
                    tenant_name,
                    way,
                    news,
                    failures,
                }));
            }
            work_for(connection, writes.iter().map(|write| write.scope)).await?;
            write_deliveries(connection, &writes).await?;
            Ok(claims)
        })
    }

    async fn record_delivery(
        &self,
        claim: &DeliveryClaim,
        outcome: &AlertOutcome,
    ) -> Result<(), StoreError> {
        let (claim, outcome) = (claim.clone(), outcome.clone());
        run_to_end!(self.across_tenants("store the result of a message"), |connection| {
            let (scope, way) = (claim.alert.scope, &claim.way);
            work_for(connection, [scope, way.scope].into_iter()).await?;
            let Some(row) = lock_delivery(connection, &claim).await? else { return Ok(()) };
            let now = read_time(connection).await?;
            let Some(row) = record_delivery(&row, &claim, &outcome, now) else { return Ok(()) };
            let (kind, key) = (claim.alert.kind, WayKey::new(way));
            write_deliveries(connection, &[DeliveryWrite { scope, kind, way: key, row }]).await?;
            sqlx::query!(
                "update alert_ways
                 set told_at = case when $3::text is null then now() else told_at end, failure = $3
                 where tenant_id = $1 and way_id = $2",
                way.scope.tenant().uuid(),
                way.id.uuid(),
                outcome.failure()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }
}

/// Lets the transaction work for these tenants. Their rows were found by a door.
async fn work_for(
    connection: &mut PgConnection,
    scopes: impl Iterator<Item = TenantScope> + Send,
) -> sqlx::Result<()> {
    let tenants: Vec<Uuid> = scopes.map(|scope| scope.tenant().uuid()).collect();
    sqlx::query_scalar!("select works_for_all($1)", &tenants).fetch_one(connection).await?;
    Ok(())
}

/// Reads the time after the locks are taken.
async fn read_time(connection: &mut PgConnection) -> sqlx::Result<Timestamp> {
    let now = sqlx::query_scalar!(r#"select clock_timestamp() as "now!: jiff_sqlx::Timestamp""#);
    Ok(now.fetch_one(connection).await?.to_jiff())
}

/// Locks the open alerts of the kinds that were looked for, and the rows of the causes.
async fn lock_alerts(connection: &mut PgConnection, scan: &CauseScan) -> sqlx::Result<Vec<Alert>> {
    let kinds: Vec<String> = scan.kinds.iter().map(|kind| kind.slug().to_owned()).collect();
    let tenants: Vec<Uuid> = scan.causes.iter().map(|cause| cause.scope.tenant().uuid()).collect();
    let caused: Vec<String> =
        scan.causes.iter().map(|cause| cause.kind.slug().to_owned()).collect();
    let records = sqlx::query_as!(
        AlertRecord,
        r#"select tenant_id as "tenant!", kind as "kind!",
               opened_at as "opened_at!: jiff_sqlx::Timestamp",
               seen_at as "seen_at!: jiff_sqlx::Timestamp",
               resolved_at as "resolved_at: jiff_sqlx::Timestamp", version as "version!",
               changed_at as "changed_at!: jiff_sqlx::Timestamp", repeats as "repeats!",
               is_return as "is_return!", count as "count!", subjects as "subjects!",
               samples as "samples!", since as "since!: jiff_sqlx::Timestamp"
           from door_lock_alerts($1, $2, $3)"#,
        &kinds,
        &tenants,
        &caused
    )
    .fetch_all(connection)
    .await?;
    records.into_iter().map(AlertRecord::into_alert).collect()
}

/// Locks the row of a claimed delivery. `None`: its way was removed.
async fn lock_delivery(
    connection: &mut PgConnection,
    claim: &DeliveryClaim,
) -> sqlx::Result<Option<AlertDelivery>> {
    let DeliveryClaim { alert, way, .. } = claim;
    let row = sqlx::query!(
        r#"select opened_at as "opened_at: jiff_sqlx::Timestamp", told_version, is_known,
               began_at as "began_at: jiff_sqlx::Timestamp", failures,
               next_at as "next_at: jiff_sqlx::Timestamp"
           from alert_deliveries
           where tenant_id = $1 and kind = $2 and way_tenant = $3 and way_id = $4 for update"#,
        alert.scope.tenant().uuid(),
        alert.kind.slug(),
        way.scope.tenant().uuid(),
        way.id.uuid()
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| AlertDelivery {
        opened_at: row.opened_at.to_jiff(),
        told_version: row.told_version.unsigned_abs(),
        is_known: row.is_known,
        began_at: row.began_at.map(jiff_sqlx::Timestamp::to_jiff),
        failures: row.failures.unsigned_abs(),
        next_at: row.next_at.map(jiff_sqlx::Timestamp::to_jiff),
    }))
}

fn read_kind(slug: &str) -> sqlx::Result<AlertKind> {
    AlertKind::from_slug(slug).ok_or_else(|| bad_column("alerts", "kind"))
}

fn count(most: usize) -> i32 {
    i32::try_from(most).unwrap_or(i32::MAX)
}
