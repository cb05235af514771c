//! Rows of alerts, read and written. The rules are those of `nightdesk-alerts`.

use nightdesk_alerts::{Alert, AlertChange};
use nightdesk_types::{TenantId, TenantScope};
use sqlx::PgConnection;
use uuid::Uuid;

use super::read_kind;
use crate::row::moment;

/// An alert as the driver reads it.
pub(super) struct AlertRecord {
    pub(super) tenant: Uuid,
    pub(super) kind: String,
    pub(super) opened_at: jiff_sqlx::Timestamp,
    pub(super) seen_at: jiff_sqlx::Timestamp,
    pub(super) resolved_at: Option<jiff_sqlx::Timestamp>,
    pub(super) version: i32,
    pub(super) changed_at: jiff_sqlx::Timestamp,
    pub(super) repeats: i32,
    pub(super) is_return: bool,
    pub(super) count: i64,
    pub(super) subjects: i64,
    pub(super) samples: String,
    pub(super) since: jiff_sqlx::Timestamp,
}

impl AlertRecord {
    pub(super) fn into_alert(self) -> sqlx::Result<Alert> {
        Ok(Alert {
            scope: read_scope(self.tenant),
            kind: read_kind(&self.kind)?,
            opened_at: self.opened_at.to_jiff(),
            seen_at: self.seen_at.to_jiff(),
            resolved_at: self.resolved_at.map(jiff_sqlx::Timestamp::to_jiff),
            version: self.version.unsigned_abs(),
            changed_at: self.changed_at.to_jiff(),
            repeats: self.repeats.unsigned_abs(),
            is_return: self.is_return,
            count: self.count.unsigned_abs(),
            subjects: self.subjects.unsigned_abs(),
            samples: self.samples.lines().map(str::to_owned).collect(),
            since: self.since.to_jiff(),
        })
    }
}

/// Writes changed alerts, in one statement. The transaction works for their tenants.
pub(super) async fn write_alerts(
    connection: &mut PgConnection,
    changes: &[AlertChange],
) -> sqlx::Result<()> {
    let mut columns = AlertColumns::default();
    for change in changes {
        columns.push(&change.alert);
    }
    sqlx::query!(
        "insert into alerts (
             tenant_id, kind, opened_at, seen_at, resolved_at, version, changed_at, repeats,
             is_return, count, subjects, samples, since
         )
         select * from unnest(
             $1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[],
             $6::integer[], $7::timestamptz[], $8::integer[], $9::boolean[], $10::bigint[],
             $11::bigint[], $12::text[], $13::timestamptz[]
         )
         on conflict (tenant_id, kind) do update
         set opened_at = excluded.opened_at, seen_at = excluded.seen_at,
             resolved_at = excluded.resolved_at, version = excluded.version,
             changed_at = excluded.changed_at, repeats = excluded.repeats,
             is_return = excluded.is_return, count = excluded.count,
             subjects = excluded.subjects, samples = excluded.samples, since = excluded.since",
        &columns.tenants,
        &columns.kinds,
        &columns.opened_ats as &[jiff_sqlx::Timestamp],
        &columns.seen_ats as &[jiff_sqlx::Timestamp],
        &columns.resolved_ats as &[Option<jiff_sqlx::Timestamp>],
        &columns.versions,
        &columns.changed_ats as &[jiff_sqlx::Timestamp],
        &columns.repeats,
        &columns.are_returns,
        &columns.counts,
        &columns.subjects,
        &columns.samples,
        &columns.sinces as &[jiff_sqlx::Timestamp]
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The columns of several alerts, as one statement takes them.
#[derive(Default)]
struct AlertColumns {
    tenants: Vec<Uuid>,
    kinds: Vec<String>,
    opened_ats: Vec<jiff_sqlx::Timestamp>,
    seen_ats: Vec<jiff_sqlx::Timestamp>,
    resolved_ats: Vec<Option<jiff_sqlx::Timestamp>>,
    versions: Vec<i32>,
    changed_ats: Vec<jiff_sqlx::Timestamp>,
    repeats: Vec<i32>,
    are_returns: Vec<bool>,
    counts: Vec<i64>,
    subjects: Vec<i64>,
    samples: Vec<String>,
    sinces: Vec<jiff_sqlx::Timestamp>,
}

impl AlertColumns {
    fn push(&mut self, alert: &Alert) {
        self.tenants.push(alert.scope.tenant().uuid());
        self.kinds.push(alert.kind.slug().to_owned());
        self.opened_ats.push(moment(alert.opened_at));
        self.seen_ats.push(moment(alert.seen_at));
        self.resolved_ats.push(alert.resolved_at.map(moment));
        self.versions.push(integer(alert.version));
        self.changed_ats.push(moment(alert.changed_at));
        self.repeats.push(integer(alert.repeats));
        self.are_returns.push(alert.is_return);
        self.counts.push(bigint(alert.count));
        self.subjects.push(bigint(alert.subjects));
        self.samples.push(alert.samples.join("\n"));
        self.sinces.push(moment(alert.since));
    }
}

/// Returns the scope of a row's tenant, or of the desk.
pub(super) fn read_scope(tenant: Uuid) -> TenantScope {
    TenantScope::for_tenant(TenantId::from_uuid(tenant))
}

pub(super) fn integer(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn bigint(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
