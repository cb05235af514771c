//! Locked rows of jobs and fires, in the form that decisions take.

use std::collections::HashMap;

use nightdesk_schedule::decide::{FireRecord, JobRecord, JobStatus, OpenFire};
use nightdesk_schedule::{ArmRequest, JobId};
use nightdesk_types::{AgentId, Arming, FireId, ScheduleId, TenantScope, Timestamp};
use sqlx::PgConnection;
use uuid::Uuid;

use super::row::{ArmedRow, FireRow, millis, target_columns};
use crate::row::{bad_column, moment};

/// A locked job, and perhaps one of its fires.
#[expect(clippy::struct_excessive_bools, reason = "a row has the columns of its table")]
pub(super) struct FactRow {
    pub(super) now_at: jiff_sqlx::Timestamp,
    pub(super) tenant_id: Uuid,
    pub(super) agent_id: Uuid,
    pub(super) job_id: String,
    pub(super) schedule_id: Uuid,
    pub(super) arming: i64,
    pub(super) fire_at: String,
    pub(super) due_at: jiff_sqlx::Timestamp,
    pub(super) next_at: Option<jiff_sqlx::Timestamp>,
    pub(super) by_inbox: bool,
    pub(super) target: String,
    pub(super) recurring: bool,
    pub(super) recurs: bool,
    pub(super) reports: bool,
    pub(super) overlap: String,
    pub(super) catch_up_ms: i64,
    pub(super) jitter_ms: i64,
    pub(super) fired_before: bool,
    pub(super) cancelled: bool,
    pub(super) watch_at: Option<jiff_sqlx::Timestamp>,
    pub(super) flagged_at: Option<jiff_sqlx::Timestamp>,
    pub(super) changed_at: jiff_sqlx::Timestamp,
    pub(super) fire_id: Option<Uuid>,
    pub(super) fire_arming: Option<i64>,
    pub(super) fire_fire_at: Option<String>,
    pub(super) fire_due_at: Option<jiff_sqlx::Timestamp>,
    pub(super) state: Option<String>,
    pub(super) cause: Option<String>,
    pub(super) tries: Option<i32>,
    pub(super) calling: Option<bool>,
    pub(super) fire_next_at: Option<jiff_sqlx::Timestamp>,
    pub(super) outcome: Option<String>,
    pub(super) began_at: Option<jiff_sqlx::Timestamp>,
    pub(super) ended_at: Option<jiff_sqlx::Timestamp>,
    pub(super) fire_reports: Option<bool>,
    pub(super) run_ended_at: Option<jiff_sqlx::Timestamp>,
    pub(super) run_ok: Option<bool>,
    pub(super) run_note: Option<String>,
}

/// The key of a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobKey {
    pub(super) tenant: Uuid,
    pub(super) agent: Uuid,
    pub(super) job: String,
}

impl JobKey {
    pub(super) fn new(scope: TenantScope, agent: AgentId, job: &JobId) -> Self {
        let (tenant, agent) = (scope.tenant().uuid(), agent.uuid());
        Self { tenant, agent, job: job.as_str().to_owned() }
    }
}

/// The key of a fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FireKey {
    pub(super) tenant: Uuid,
    pub(super) fire: Uuid,
}

impl FireKey {
    pub(super) const fn new(scope: TenantScope, fire: FireId) -> Self {
        Self { tenant: scope.tenant().uuid(), fire: fire.uuid() }
    }
}

/// A locked job with its fires that are not over.
pub(super) struct LockedJob {
    pub(super) key: JobKey,
    pub(super) job: JobRecord,
    pub(super) open: Vec<OpenFire>,
    pub(super) now: Timestamp,
}

/// A locked fire with its job.
pub(super) struct LockedFire {
    pub(super) key: JobKey,
    pub(super) job: JobRecord,
    pub(super) fire: FireRecord,
    pub(super) now: Timestamp,
}

/// A row of a function that locks: its columns are the time, a job and a fire.
macro_rules! locked_rows {
    ($from:literal, $($argument:expr),+ $(,)?) => {
        sqlx::query_as!(
            FactRow,
            r#"select now_at as "now_at!: jiff_sqlx::Timestamp", (job).tenant_id as "tenant_id!",
                   (job).agent_id as "agent_id!", (job).job_id as "job_id!",
                   (job).schedule_id as "schedule_id!", (job).arming as "arming!",
                   (job).fire_at as "fire_at!", (job).due_at as "due_at!: jiff_sqlx::Timestamp",
                   (job).next_at as "next_at: jiff_sqlx::Timestamp", (job).by_inbox as "by_inbox!",
                   (job).target as "target!", (job).recurring as "recurring!",
                   (job).recurs as "recurs!", (job).reports as "reports!",
                   (job).overlap as "overlap!", (job).catch_up_ms as "catch_up_ms!",
                   (job).jitter_ms as "jitter_ms!", (job).fired_before as "fired_before!",
                   (job).cancelled as "cancelled!",
                   (job).watch_at as "watch_at: jiff_sqlx::Timestamp",
                   (job).flagged_at as "flagged_at: jiff_sqlx::Timestamp",
                   (job).changed_at as "changed_at!: jiff_sqlx::Timestamp",
                   (fire).fire_id as "fire_id?", (fire).arming as "fire_arming?",
                   (fire).fire_at as "fire_fire_at?",
                   (fire).due_at as "fire_due_at?: jiff_sqlx::Timestamp",
                   (fire).state as "state?", (fire).cause as "cause?", (fire).tries as "tries?",
                   (fire).calling as "calling?",
                   (fire).next_at as "fire_next_at?: jiff_sqlx::Timestamp",
                   (fire).outcome as "outcome?",
                   (fire).began_at as "began_at?: jiff_sqlx::Timestamp",
                   (fire).ended_at as "ended_at?: jiff_sqlx::Timestamp",
                   (fire).reports as "fire_reports?",
                   (fire).run_ended_at as "run_ended_at?: jiff_sqlx::Timestamp",
                   (fire).run_ok as "run_ok?", (fire).run_note as "run_note?""# + $from,
            $($argument),+
        )
    };
}

/// Locks a job, which is created if there is none.
pub(super) async fn open_job(
    connection: &mut PgConnection,
    scope: TenantScope,
    agent: AgentId,
    arm: &ArmRequest,
) -> sqlx::Result<LockedJob> {
    let (by_inbox, target) = target_columns(arm.to.clone());
    let rows = locked_rows!(
        " from schedule_open($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        scope.tenant().uuid(),
        agent.uuid(),
        arm.job.as_str(),
        arm.fire_at.as_str(),
        moment(arm.fire_at.instant().max(Timestamp::UNIX_EPOCH)) as jiff_sqlx::Timestamp,
        by_inbox,
        target,
        arm.recurring,
        arm.reports,
        arm.policies.overlap.slug(),
        millis(arm.policies.catch_up),
        millis(arm.policies.jitter),
    )
    .fetch_all(connection)
    .await?;
    locked_jobs(rows)?.pop().ok_or_else(|| bad_column("schedules", "job_id"))
}

/// Locks a job.
pub(super) async fn lock_job(
    connection: &mut PgConnection,
    key: &JobKey,
) -> sqlx::Result<Option<LockedJob>> {
    let rows =
        locked_rows!(" from schedule_lock($1, $2, $3)", key.tenant, key.agent, key.job.as_str())
            .fetch_all(connection)
            .await?;
    Ok(locked_jobs(rows)?.pop())
}

/// Locks the jobs of an agent that are not cancelled.
pub(super) async fn lock_jobs(
    connection: &mut PgConnection,
    scope: TenantScope,
    agent: AgentId,
) -> sqlx::Result<Vec<LockedJob>> {
    let tenant = scope.tenant().uuid();
    let rows = locked_rows!(" from schedules_lock($1, $2)", tenant, agent.uuid())
        .fetch_all(connection)
        .await?;
    locked_jobs(rows)
}

/// Locks fires and their jobs. A fire that does not exist is not in the result.
pub(super) async fn lock_fires(
    connection: &mut PgConnection,
    fires: impl IntoIterator<Item = FireKey>,
) -> sqlx::Result<HashMap<FireKey, LockedFire>> {
    let (tenants, fires): (Vec<_>, Vec<_>) =
        fires.into_iter().map(|key| (key.tenant, key.fire)).unzip();
    let rows = locked_rows!(" from fires_lock(works_for_all($1), $2)", &tenants, &fires)
        .fetch_all(connection)
        .await?;
    let locked = rows.into_iter().map(|row| {
        let locked = row.locked_fire()?;
        Ok((FireKey { tenant: locked.key.tenant, fire: locked.fire.fire.id.uuid() }, locked))
    });
    locked.collect()
}

/// Locks a fire alone, for a change that does not depend on its job.
pub(super) async fn lock_try(
    connection: &mut PgConnection,
    scope: TenantScope,
    fire: FireId,
) -> sqlx::Result<Option<LockedFire>> {
    let row = locked_rows!(
        " from (
              select clock_timestamp() as now_at, s as job, f as fire from fires f
                  join schedules s
                      on s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
              where f.tenant_id = $1 and f.fire_id = $2 for update of f
          ) as locked",
        scope.tenant().uuid(),
        fire.uuid()
    )
    .fetch_optional(connection)
    .await?;
    row.map(FactRow::locked_fire).transpose()
}

/// Groups rows by job. The rows of one job are adjacent.
fn locked_jobs(rows: Vec<FactRow>) -> sqlx::Result<Vec<LockedJob>> {
    let mut jobs: Vec<LockedJob> = Vec::new();
    for mut row in rows {
        let (key, now) = (row.key(), row.now_at.to_jiff());
        let open = row.fire()?.map(|fire| OpenFire::from(&fire));
        if let Some(last) = jobs.last_mut().filter(|last| last.key == key) {
            last.open.extend(open);
        } else {
            let (job, open) = (row.job()?, open.into_iter().collect());
            jobs.push(LockedJob { key, job, open, now });
        }
    }
    Ok(jobs)
}

impl FactRow {
    pub(super) fn key(&self) -> JobKey {
        JobKey { tenant: self.tenant_id, agent: self.agent_id, job: self.job_id.clone() }
    }

    fn locked_fire(mut self) -> sqlx::Result<LockedFire> {
        let fire = self.fire()?.ok_or_else(|| bad_column("fires", "fire_id"))?;
        let (key, now) = (self.key(), self.now_at.to_jiff());
        Ok(LockedFire { key, job: self.job()?, fire, now })
    }

    /// Takes the fire out of the row, if there is one.
    pub(super) fn fire(&mut self) -> sqlx::Result<Option<FireRecord>> {
        let (next_at, reports) = (self.fire_next_at, self.fire_reports);
        let Some(due_at) = self.fire_due_at.map(jiff_sqlx::Timestamp::to_jiff) else {
            return Ok(None);
        };
        let row = self.fire_row().ok_or_else(|| bad_column("fires", "fire_id"))?;
        Ok(Some(FireRecord {
            fire: row.fire()?,
            due_at,
            is_calling: self.calling.unwrap_or_default(),
            next_at: next_at.map(jiff_sqlx::Timestamp::to_jiff),
            reports: reports.unwrap_or_default(),
        }))
    }

    fn fire_row(&mut self) -> Option<FireRow> {
        Some(FireRow {
            fire_id: self.fire_id?,
            agent_id: self.agent_id,
            job_id: self.job_id.clone(),
            arming: self.fire_arming?,
            fire_at: self.fire_fire_at.take()?,
            state: self.state.take()?,
            cause: self.cause.take(),
            tries: self.tries?,
            outcome: self.outcome.take(),
            began_at: self.began_at?,
            ended_at: self.ended_at,
            run_ended_at: self.run_ended_at,
            run_ok: self.run_ok,
            run_note: self.run_note.take(),
        })
    }

    /// Returns the job.
    pub(super) fn job(self) -> sqlx::Result<JobRecord> {
        let status = JobStatus {
            arming: Arming::new(self.arming),
            due_at: self.due_at.to_jiff(),
            next_at: self.next_at.map(jiff_sqlx::Timestamp::to_jiff),
            has_recurred: self.recurs,
            has_fired: self.fired_before,
            is_cancelled: self.cancelled,
            watch_at: self.watch_at.map(jiff_sqlx::Timestamp::to_jiff),
            flagged_at: self.flagged_at.map(jiff_sqlx::Timestamp::to_jiff),
            changed_at: self.changed_at.to_jiff(),
        };
        let armed = ArmedRow {
            schedule_id: self.schedule_id,
            arming: self.arming,
            job_id: self.job_id,
            fire_at: self.fire_at,
            by_inbox: self.by_inbox,
            target: self.target,
            recurring: self.recurring,
            reports: self.reports,
            overlap: self.overlap,
            catch_up_ms: self.catch_up_ms,
            jitter_ms: self.jitter_ms,
        };
        let arm = armed.into_active_job()?.arm;
        Ok(JobRecord { id: ScheduleId::from_uuid(self.schedule_id), arm, status })
    }
}
