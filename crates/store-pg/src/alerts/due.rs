//! Deliveries that are due, and their rows.

use std::time::Duration;

use nightdesk_alerts::{Alert, AlertDelivery, AlertKind, AlertWay};
use nightdesk_types::TenantScope;
use sqlx::PgConnection;
use uuid::Uuid;

use super::rows::{AlertRecord, integer};
use super::ways::{WayKey, WayRecord};
use crate::row::moment;

/// An alert and a way on which a message may be due.
pub(super) struct DueAlert {
    pub(super) alert: Alert,
    /// The name of the alert's tenant, if it has one.
    pub(super) tenant_name: Option<String>,
    pub(super) way: AlertWay,
    pub(super) delivery: Option<AlertDelivery>,
}

/// A delivery's row to write.
pub(super) struct DeliveryWrite {
    /// The scope of the alert.
    pub(super) scope: TenantScope,
    pub(super) kind: AlertKind,
    pub(super) way: WayKey,
    pub(super) row: AlertDelivery,
}

/// An alert, a way and a delivery as the driver reads them.
struct DueAlertRecord {
    tenant: Uuid,
    kind: String,
    opened_at: jiff_sqlx::Timestamp,
    seen_at: jiff_sqlx::Timestamp,
    resolved_at: Option<jiff_sqlx::Timestamp>,
    version: i32,
    changed_at: jiff_sqlx::Timestamp,
    repeats: i32,
    is_return: bool,
    count: i64,
    subjects: i64,
    samples: String,
    since: jiff_sqlx::Timestamp,
    tenant_name: Option<String>,
    way_tenant: Uuid,
    way: Uuid,
    way_kind: String,
    target: String,
    salt: Option<String>,
    agent_tenant: Option<Uuid>,
    agent: Option<Uuid>,
    bot: Option<Uuid>,
    coverage: String,
    /// The alert of the delivery. Null: there is no delivery yet.
    of_alert: Option<jiff_sqlx::Timestamp>,
    told_version: Option<i32>,
    is_known: Option<bool>,
    began_at: Option<jiff_sqlx::Timestamp>,
    failures: Option<i32>,
    next_at: Option<jiff_sqlx::Timestamp>,
}

impl DueAlertRecord {
    fn into_due(self) -> sqlx::Result<DueAlert> {
        let delivery = self.delivery();
        let alert = AlertRecord {
            tenant: self.tenant,
            kind: self.kind,
            opened_at: self.opened_at,
            seen_at: self.seen_at,
            resolved_at: self.resolved_at,
            version: self.version,
            changed_at: self.changed_at,
            repeats: self.repeats,
            is_return: self.is_return,
            count: self.count,
            subjects: self.subjects,
            samples: self.samples,
            since: self.since,
        };
        let way = WayRecord {
            tenant: self.way_tenant,
            way: self.way,
            kind: self.way_kind,
            target: self.target,
            salt: self.salt,
            agent_tenant: self.agent_tenant,
            agent: self.agent,
            bot: self.bot,
            coverage: self.coverage,
        };
        let (alert, way) = (alert.into_alert()?, way.into_way()?);
        Ok(DueAlert { alert, tenant_name: self.tenant_name, way, delivery })
    }

    fn delivery(&self) -> Option<AlertDelivery> {
        Some(AlertDelivery {
            opened_at: self.of_alert?.to_jiff(),
            told_version: self.told_version?.unsigned_abs(),
            is_known: self.is_known?,
            began_at: self.began_at.map(jiff_sqlx::Timestamp::to_jiff),
            failures: self.failures?.unsigned_abs(),
            next_at: self.next_at.map(jiff_sqlx::Timestamp::to_jiff),
        })
    }
}

/// Locks the alerts with a message that may be due, and reads their ways.
pub(super) async fn read_due_alerts(
    connection: &mut PgConnection,
    within: Duration,
    pairs_max: i32,
) -> sqlx::Result<Vec<DueAlert>> {
    let records = sqlx::query_as!(
        DueAlertRecord,
        r#"select (alert).tenant_id as "tenant!", (alert).kind as "kind!",
               (alert).opened_at as "opened_at!: jiff_sqlx::Timestamp",
               (alert).seen_at as "seen_at!: jiff_sqlx::Timestamp",
               (alert).resolved_at as "resolved_at: jiff_sqlx::Timestamp",
               (alert).version as "version!",
               (alert).changed_at as "changed_at!: jiff_sqlx::Timestamp",
               (alert).repeats as "repeats!", (alert).is_return as "is_return!",
               (alert).count as "count!", (alert).subjects as "subjects!",
               (alert).samples as "samples!", (alert).since as "since!: jiff_sqlx::Timestamp",
               tenant_name, (way).tenant_id as "way_tenant!", (way).way_id as "way!",
               (way).kind as "way_kind!", (way).target as "target!", (way).salt as "salt",
               (way).agent_tenant as "agent_tenant", (way).agent_id as "agent",
               (way).bot_id as "bot", (way).coverage as "coverage!",
               (delivery).opened_at as "of_alert: jiff_sqlx::Timestamp",
               (delivery).told_version as "told_version", (delivery).is_known as "is_known",
               (delivery).began_at as "began_at: jiff_sqlx::Timestamp",
               (delivery).failures as "failures",
               (delivery).next_at as "next_at: jiff_sqlx::Timestamp"
           from door_due_alerts(make_interval(secs => $1), $2)"#,
        within.as_secs_f64(),
        pairs_max
    )
    .fetch_all(connection)
    .await?;
    records.into_iter().map(DueAlertRecord::into_due).collect()
}

/// Writes deliveries, in one statement. The transaction works for the tenants of their alerts.
pub(super) async fn write_deliveries(
    connection: &mut PgConnection,
    writes: &[DeliveryWrite],
) -> sqlx::Result<()> {
    let mut columns = DeliveryColumns::default();
    for write in writes {
        columns.push(write);
    }
    sqlx::query!(
        "insert into alert_deliveries (
             tenant_id, kind, way_tenant, way_id, opened_at, told_version, is_known, began_at,
             failures, next_at
         )
         select * from unnest(
             $1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::integer[],
             $7::boolean[], $8::timestamptz[], $9::integer[], $10::timestamptz[]
         )
         on conflict (tenant_id, kind, way_tenant, way_id) do update
         set opened_at = excluded.opened_at, told_version = excluded.told_version,
             is_known = excluded.is_known, began_at = excluded.began_at,
             failures = excluded.failures, next_at = excluded.next_at",
        &columns.tenants,
        &columns.kinds,
        &columns.way_tenants,
        &columns.ways,
        &columns.opened_ats as &[jiff_sqlx::Timestamp],
        &columns.told_versions,
        &columns.are_known,
        &columns.began_ats as &[Option<jiff_sqlx::Timestamp>],
        &columns.failures,
        &columns.next_ats as &[Option<jiff_sqlx::Timestamp>]
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The columns of several deliveries, as one statement takes them.
#[derive(Default)]
struct DeliveryColumns {
    tenants: Vec<Uuid>,
    kinds: Vec<String>,
    way_tenants: Vec<Uuid>,
    ways: Vec<Uuid>,
    opened_ats: Vec<jiff_sqlx::Timestamp>,
    told_versions: Vec<i32>,
    are_known: Vec<bool>,
    began_ats: Vec<Option<jiff_sqlx::Timestamp>>,
    failures: Vec<i32>,
    next_ats: Vec<Option<jiff_sqlx::Timestamp>>,
}

impl DeliveryColumns {
    fn push(&mut self, write: &DeliveryWrite) {
        let DeliveryWrite { scope, kind, way, row } = write;
        self.tenants.push(scope.tenant().uuid());
        self.kinds.push(kind.slug().to_owned());
        self.way_tenants.push(way.tenant);
        self.ways.push(way.way);
        self.opened_ats.push(moment(row.opened_at));
        self.told_versions.push(integer(row.told_version));
        self.are_known.push(row.is_known);
        self.began_ats.push(row.began_at.map(moment));
        self.failures.push(integer(row.failures));
        self.next_ats.push(row.next_at.map(moment));
    }
}
