//! Claims of due jobs and fires: the rows are locked and read at once, decided on one by one, and written at once.

use std::collections::BTreeMap;
use std::time::Duration;

use nightdesk_schedule::decide::{FireRecord, JobRecord, claim_instant, claim_try};
use nightdesk_schedule::{ClaimBatch, FireState};
use nightdesk_types::limits::RUN_MAX;
use nightdesk_types::{AgentId, FireId, Node, TenantId, TenantScope, Timestamp};
use sqlx::PgConnection;
use uuid::Uuid;

use super::facts::{FactRow, JobKey};
use super::write::{
    FireColumns, JobColumns, MissedFire, Moments, notice_missed, write_fires, write_jobs,
};
use crate::row::{bad_column, moment};

/// A locked row that is due: a job whose instant came, or a fire and its job.
struct DueScheduleRow {
    key: JobKey,
    /// The fire's id, or the one that the instant's fire gets.
    fire_id: Uuid,
    job: JobRecord,
    fire: Option<FireRecord>,
}

impl DueScheduleRow {
    fn depends_on_runs(&self) -> bool {
        let is_held = |fire: &FireRecord| fire.fire.state == FireState::Held;
        self.fire.as_ref().map_or_else(|| self.job.heeds_runs(), is_held)
    }
}

/// Decided rows, ready to be written.
struct ClaimPlan {
    now: Timestamp,
    /// The fires of instants, with the keys of their jobs.
    begun: FireColumns,
    agents: Vec<Uuid>,
    jobs: Vec<String>,
    watch_at: Moments,
    /// The fires that existed before, and the changed columns of their jobs.
    tried: FireColumns,
    changed: JobColumns,
    missed: Vec<MissedFire>,
    claims: ClaimBatch,
}

/// Claims due jobs and fires.
pub(super) async fn claim_due(
    connection: &mut PgConnection,
    node: &Node,
    at_most: usize,
) -> sqlx::Result<ClaimBatch> {
    let rows = lock_due(connection, node, at_most).await?;
    let is_full = rows.len() == at_most;
    let mut claims = match rows.first().map(|row| row.now_at.to_jiff()) {
        Some(now) => claim_rows(connection, node, rows, now).await?,
        None => ClaimBatch::default(),
    };
    // More may be due after a full claim, so the next one follows at once and needs no statement.
    claims.next_in =
        if is_full { Some(Duration::ZERO) } else { next_due_in(connection, node).await? };
    Ok(claims)
}

async fn claim_rows(
    connection: &mut PgConnection,
    node: &Node,
    rows: Vec<FactRow>,
    now: Timestamp,
) -> sqlx::Result<ClaimBatch> {
    let due = rows.into_iter().map(FactRow::into_due_row).collect::<sqlx::Result<Vec<_>>>()?;
    let running = running_since(connection, &due, now).await?;
    let mut plan = ClaimPlan::new(now);
    for row in due {
        let running_since = running.get(&row.key).copied();
        plan.decide(row, running_since);
    }
    plan.write(connection, node).await
}

async fn lock_due(
    connection: &mut PgConnection,
    node: &Node,
    at_most: usize,
) -> sqlx::Result<Vec<FactRow>> {
    sqlx::query_as!(
        FactRow,
        r#"select now_at as "now_at!: jiff_sqlx::Timestamp", tenant_id as "tenant_id!",
               agent_id as "agent_id!", job_id as "job_id!", schedule_id as "schedule_id!",
               arming as "arming!", fire_at as "fire_at!",
               due_at as "due_at!: jiff_sqlx::Timestamp",
               next_at as "next_at: jiff_sqlx::Timestamp", by_inbox as "by_inbox!",
               target as "target!", recurring as "recurring!", recurs as "recurs!",
               reports as "reports!", overlap as "overlap!", catch_up_ms as "catch_up_ms!",
               jitter_ms as "jitter_ms!", fired_before as "fired_before!",
               cancelled as "cancelled!", watch_at as "watch_at: jiff_sqlx::Timestamp",
               flagged_at as "flagged_at: jiff_sqlx::Timestamp",
               changed_at as "changed_at!: jiff_sqlx::Timestamp", fire_id, fire_arming,
               fire_fire_at, fire_due_at as "fire_due_at: jiff_sqlx::Timestamp", state, cause,
               tries, calling, fire_next_at as "fire_next_at: jiff_sqlx::Timestamp", outcome,
               began_at as "began_at: jiff_sqlx::Timestamp",
               ended_at as "ended_at: jiff_sqlx::Timestamp", fire_reports,
               null::timestamptz as "run_ended_at: jiff_sqlx::Timestamp",
               null::boolean as run_ok, null::text as run_note
           from fires_due($1, $2, $3)"#,
        node.name,
        node.epoch.get(),
        i32::try_from(at_most).unwrap_or(i32::MAX)
    )
    .fetch_all(connection)
    .await
}

impl FactRow {
    fn into_due_row(mut self) -> sqlx::Result<DueScheduleRow> {
        let fire_id = self.fire_id.ok_or_else(|| bad_column("fires_due", "fire_id"))?;
        let (key, fire) = (self.key(), self.fire()?);
        Ok(DueScheduleRow { key, fire_id, job: self.job()?, fire })
    }
}

/// Returns the newest run that is under way, of each job whose rules depend on it.
async fn running_since(
    connection: &mut PgConnection,
    due: &[DueScheduleRow],
    now: Timestamp,
) -> sqlx::Result<BTreeMap<JobKey, Timestamp>> {
    let keys: Vec<_> = due.iter().filter(|row| row.depends_on_runs()).map(|row| &row.key).collect();
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let tenants: Vec<_> = keys.iter().map(|key| key.tenant).collect();
    let agents: Vec<_> = keys.iter().map(|key| key.agent).collect();
    let jobs: Vec<_> = keys.iter().map(|key| key.job.as_str()).collect();
    let since = now.checked_sub(RUN_MAX).unwrap_or(Timestamp::UNIX_EPOCH);
    let rows = sqlx::query!(
        r#"select tenant as "tenant!", agent as "agent!", job as "job!",
               running_since as "running_since!: jiff_sqlx::Timestamp"
           from fires_running(works_for_all($1), $2, $3, $4)"#,
        &tenants,
        &agents,
        &jobs as &[&str],
        moment(since) as jiff_sqlx::Timestamp
    )
    .fetch_all(connection)
    .await?;
    let running = rows.into_iter().map(|row| {
        let key = JobKey { tenant: row.tenant, agent: row.agent, job: row.job };
        (key, row.running_since.to_jiff())
    });
    Ok(running.collect())
}

/// Returns the time until a job or a fire is due, or `None` for a node whose lease is over.
async fn next_due_in(connection: &mut PgConnection, node: &Node) -> sqlx::Result<Option<Duration>> {
    let ms = sqlx::query_scalar!(
        "select fires_next_ms() where node_lives($1, $2)",
        node.name,
        node.epoch.get()
    )
    .fetch_optional(connection)
    .await?;
    Ok(ms.flatten().map(|ms| Duration::from_millis(ms.max(0).unsigned_abs())))
}

impl ClaimPlan {
    fn new(now: Timestamp) -> Self {
        Self {
            now,
            begun: FireColumns::default(),
            agents: Vec::new(),
            jobs: Vec::new(),
            watch_at: Vec::new(),
            tried: FireColumns::default(),
            changed: JobColumns::default(),
            missed: Vec::new(),
            claims: ClaimBatch::default(),
        }
    }

    fn decide(&mut self, row: DueScheduleRow, running_since: Option<Timestamp>) {
        match row.fire {
            Some(_) => self.decide_try(row, running_since),
            None => self.decide_instant(row, running_since),
        }
    }

    fn decide_instant(&mut self, row: DueScheduleRow, running_since: Option<Timestamp>) {
        let DueScheduleRow { key, fire_id, job, .. } = row;
        let Some(step) = claim_instant(&job, running_since, self.now) else { return };
        let (agent, id) = (AgentId::from_uuid(key.agent), FireId::from_uuid(fire_id));
        let mut record = job.begin_fire(agent, id, self.now);
        record.set_status(step.fire);
        self.add(key.tenant, &job, record);
        self.begun.push(key.tenant, fire_id, step.fire);
        self.watch_at.push(step.job.watch_at.map(moment));
        self.agents.push(key.agent);
        self.jobs.push(key.job);
    }

    fn decide_try(&mut self, row: DueScheduleRow, running_since: Option<Timestamp>) {
        let DueScheduleRow { key, fire_id, job, fire: Some(mut record) } = row else { return };
        let Some(step) = claim_try(&record, &job, running_since, self.now) else { return };
        record.set_status(step.fire);
        self.add(key.tenant, &job, record);
        self.tried.push(key.tenant, fire_id, step.fire);
        if step.job != job.status {
            self.changed.push(key, step.job);
        }
    }

    fn add(&mut self, tenant: Uuid, job: &JobRecord, record: FireRecord) {
        let scope = TenantScope::for_tenant(TenantId::from_uuid(tenant));
        if record.fire.state == FireState::Missed {
            self.missed.push(MissedFire::new(scope, &record.fire));
        }
        self.claims.add(scope, &job.arm.to, record.fire);
    }

    async fn write(self, connection: &mut PgConnection, node: &Node) -> sqlx::Result<ClaimBatch> {
        write_fires(connection, &self.tried, Some(node)).await?;
        write_jobs(connection, &self.changed).await?;
        self.write_new_fires(connection, node).await?;
        notice_missed(connection, self.missed).await?;
        Ok(self.claims)
    }

    async fn write_new_fires(
        &self,
        connection: &mut PgConnection,
        node: &Node,
    ) -> sqlx::Result<()> {
        if self.jobs.is_empty() {
            return Ok(());
        }
        let begun = &self.begun;
        sqlx::query!(
            "select fires_begin(
                 $1, $2, works_for_all($3), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
             )",
            node.name,
            moment(self.now) as jiff_sqlx::Timestamp,
            &begun.tenants,
            &self.agents,
            &self.jobs,
            &self.watch_at as &[Option<jiff_sqlx::Timestamp>],
            &begun.fires,
            &begun.states as &[&str],
            &begun.causes as &[Option<&str>],
            &begun.tries,
            &begun.calling,
            &begun.next_at as &[Option<jiff_sqlx::Timestamp>],
            &begun.ended_at as &[Option<jiff_sqlx::Timestamp>]
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}
