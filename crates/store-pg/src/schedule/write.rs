//! Writes of decided columns, many rows at a time.

use nightdesk_schedule::decide::{FireStatus, JobRecord, JobStatus};
use nightdesk_schedule::{Fire, FireCause, RunReport};
use nightdesk_types::limits::NOTICES_KEPT_MAX;
use nightdesk_types::{AgentId, Node, TenantScope, Timestamp};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Attempt;
use super::facts::JobKey;
use super::row::{millis, target_columns};
use crate::row::moment;

pub(super) type Moments = Vec<Option<jiff_sqlx::Timestamp>>;

/// The columns of fires, an array each.
#[derive(Default)]
pub(super) struct FireColumns {
    pub(super) tenants: Vec<Uuid>,
    pub(super) fires: Vec<Uuid>,
    pub(super) states: Vec<&'static str>,
    pub(super) causes: Vec<Option<&'static str>>,
    pub(super) tries: Vec<i32>,
    pub(super) calling: Vec<bool>,
    pub(super) next_at: Moments,
    pub(super) ended_at: Moments,
    /// The outcomes of the last tries. `None` leaves an outcome unchanged.
    outcomes: Vec<Option<String>>,
}

impl FireColumns {
    pub(super) fn push(&mut self, tenant: Uuid, fire: Uuid, status: FireStatus) {
        self.push_row(tenant, fire, status, None);
    }

    pub(super) fn push_outcome(&mut self, attempt: &Attempt, status: FireStatus) {
        let (tenant, outcome) = (attempt.scope.tenant().uuid(), attempt.outcome.clone());
        self.push_row(tenant, attempt.fire.uuid(), status, Some(outcome));
    }

    fn push_row(&mut self, tenant: Uuid, fire: Uuid, status: FireStatus, outcome: Option<String>) {
        self.tenants.push(tenant);
        self.fires.push(fire);
        self.states.push(status.state.slug());
        self.causes.push(status.cause.map(FireCause::slug));
        self.tries.push(i32::try_from(status.tries).unwrap_or(i32::MAX));
        self.calling.push(status.is_calling);
        self.next_at.push(status.next_at.map(moment));
        self.ended_at.push(status.ended_at.map(moment));
        self.outcomes.push(outcome);
    }
}

/// The columns of jobs, an array each.
#[derive(Default)]
pub(super) struct JobColumns {
    tenants: Vec<Uuid>,
    agents: Vec<Uuid>,
    jobs: Vec<String>,
    next_at: Moments,
    recurs: Vec<bool>,
    fired_before: Vec<bool>,
    cancelled: Vec<bool>,
    watch_at: Moments,
    flagged_at: Moments,
    changed_at: Moments,
}

impl JobColumns {
    pub(super) fn push(&mut self, key: JobKey, status: JobStatus) {
        self.tenants.push(key.tenant);
        self.agents.push(key.agent);
        self.jobs.push(key.job);
        self.next_at.push(status.next_at.map(moment));
        self.recurs.push(status.has_recurred);
        self.fired_before.push(status.has_fired);
        self.cancelled.push(status.is_cancelled);
        self.watch_at.push(status.watch_at.map(moment));
        self.flagged_at.push(status.flagged_at.map(moment));
        self.changed_at.push(Some(moment(status.changed_at)));
    }
}

/// Writes the columns of fires, and the node that claimed them, if they are claimed.
pub(super) async fn write_fires(
    connection: &mut PgConnection,
    columns: &FireColumns,
    claimed_by: Option<&Node>,
) -> sqlx::Result<()> {
    if columns.fires.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "select fires_write($1, works_for_all($2), $3, $4, $5, $6, $7, $8, $9, $10)",
        claimed_by.map(|node| node.name.as_str()),
        &columns.tenants,
        &columns.fires,
        &columns.states as &[&str],
        &columns.causes as &[Option<&str>],
        &columns.tries,
        &columns.calling,
        &columns.next_at as &[Option<jiff_sqlx::Timestamp>],
        &columns.ended_at as &[Option<jiff_sqlx::Timestamp>],
        &columns.outcomes as &[Option<String>]
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes the columns of jobs.
pub(super) async fn write_jobs(
    connection: &mut PgConnection,
    columns: &JobColumns,
) -> sqlx::Result<()> {
    if columns.jobs.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "select schedules_write(works_for_all($1), $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &columns.tenants,
        &columns.agents,
        &columns.jobs,
        &columns.next_at as &[Option<jiff_sqlx::Timestamp>],
        &columns.recurs,
        &columns.fired_before,
        &columns.cancelled,
        &columns.watch_at as &[Option<jiff_sqlx::Timestamp>],
        &columns.flagged_at as &[Option<jiff_sqlx::Timestamp>],
        &columns.changed_at as &[Option<jiff_sqlx::Timestamp>]
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Counts one more armed job. Returns an error if it is over a quota.
pub(super) async fn keep_quotas(connection: &mut PgConnection, key: &JobKey) -> sqlx::Result<()> {
    sqlx::query!(
        "select keep_armed($1, $2, 'agent-jobs') as of_agent,
             keep_armed($1, null, 'armed-jobs') as of_tenant",
        key.tenant,
        key.agent
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes a job that is armed anew.
#[expect(clippy::cognitive_complexity, reason = "the macro counts one branch for each argument")]
pub(super) async fn write_armed(
    connection: &mut PgConnection,
    key: &JobKey,
    job: &JobRecord,
) -> sqlx::Result<()> {
    let (arm, status) = (&job.arm, job.status);
    let (by_inbox, target) = target_columns(arm.to.clone());
    sqlx::query!(
        "update schedules
         set arming = $4, fire_at = $5, due_at = $6, next_at = $7, by_inbox = $8, target = $9,
             recurring = $10, recurs = $11, reports = $12, overlap = $13, catch_up_ms = $14,
             jitter_ms = $15, fired_before = $16, cancelled = $17, watch_at = $18,
             flagged_at = $19, changed_at = $20
         where tenant_id = $1 and agent_id = $2 and job_id = $3",
        key.tenant,
        key.agent,
        key.job,
        status.arming.get(),
        arm.fire_at.as_str(),
        moment(status.due_at) as jiff_sqlx::Timestamp,
        status.next_at.map(moment) as Option<jiff_sqlx::Timestamp>,
        by_inbox,
        target,
        arm.recurring,
        status.has_recurred,
        arm.reports,
        arm.policies.overlap.slug(),
        millis(arm.policies.catch_up),
        millis(arm.policies.jitter),
        status.has_fired,
        status.is_cancelled,
        status.watch_at.map(moment) as Option<jiff_sqlx::Timestamp>,
        status.flagged_at.map(moment) as Option<jiff_sqlx::Timestamp>,
        moment(status.changed_at) as jiff_sqlx::Timestamp
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// A missed fire whose agent's owner gets a notice.
pub(super) struct MissedFire {
    pub(super) tenant: Uuid,
    pub(super) agent: AgentId,
    pub(super) notice: String,
    pub(super) tries: u32,
}

impl MissedFire {
    pub(super) fn new(scope: TenantScope, fire: &Fire) -> Self {
        let (tenant, notice) = (scope.tenant().uuid(), fire.missed_notice());
        Self { tenant, agent: fire.agent, notice, tries: fire.tries }
    }
}

/// Writes notices of missed fires, tenant by tenant, in the order in which notices are locked.
pub(super) async fn notice_missed(
    connection: &mut PgConnection,
    mut missed: Vec<MissedFire>,
) -> sqlx::Result<()> {
    if missed.is_empty() {
        return Ok(());
    }
    missed.sort_by_key(|fire| fire.tenant);
    let tenants: Vec<_> = missed.iter().map(|fire| fire.tenant).collect();
    let agents: Vec<_> = missed.iter().map(|fire| fire.agent.uuid()).collect();
    let tries = missed.iter().map(|fire| i32::try_from(fire.tries).unwrap_or(i32::MAX));
    let tries: Vec<_> = tries.collect();
    let notices: Vec<_> = missed.into_iter().map(|fire| fire.notice).collect();
    sqlx::query!(
        "select notice(k.tenant, k.agent, 'fire-missed', k.notice, k.tries, $5)
         from unnest(works_for_all($1), $2::uuid[], $3::text[], $4::integer[])
             as k (tenant, agent, notice, tries)",
        &tenants,
        &agents,
        &notices,
        &tries,
        NOTICES_KEPT_MAX
    )
    .fetch_all(connection)
    .await?;
    Ok(())
}

/// Writes the end of a run.
pub(super) async fn write_run(
    connection: &mut PgConnection,
    tenant: Uuid,
    fire: Uuid,
    report: &RunReport,
    now: Timestamp,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update fires set run_ended_at = $3, run_ok = $4, run_note = $5
         where tenant_id = $1 and fire_id = $2",
        tenant,
        fire,
        moment(now) as jiff_sqlx::Timestamp,
        report.ok,
        report.note
    )
    .execute(connection)
    .await?;
    Ok(())
}
