//! The store of jobs and fires. Each method locks rows, reads facts, calls `nightdesk_schedule::decide`, and writes the
//! decided columns. The operator's view of them has a file of its own.

mod claim;
mod facts;
mod operator;
mod row;
mod write;

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::LocalEntry;
use nightdesk_register::audit::Kind;
use nightdesk_schedule::decide::{
    FireStatus, JobStatus, OpenFire, REPORTED, ReportStep, Retry, arm_job, cancel_job, end_fire,
    release_held, report_run, retry_fire,
};
use nightdesk_schedule::{
    ActiveJob, ArmRequest, CancelOutcome, ClaimBatch, FireClaim, FireEnd, FireEnding, FireEntry,
    FireState, JobId, RunReport, Store, UnarmedJob,
};
use nightdesk_types::limits::{FIRES_SWEPT_MAX, NOTICES_KEPT_MAX};
use nightdesk_types::{AgentId, FireId, Node, Seq, StoreError, TenantId, TenantScope};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use self::claim::claim_due;
use self::facts::{
    FireKey, JobKey, LockedFire, LockedJob, lock_fires, lock_job, lock_jobs, lock_try, open_job,
};
use self::row::{ArmedRow, job_id};
use self::write::{
    FireColumns, JobColumns, MissedFire, keep_quotas, notice_missed, write_armed, write_fires,
    write_jobs, write_run,
};
use crate::Pg;
use crate::inbox::put_local_entry;
use crate::register::audit::record_act;

#[async_trait]
impl Store for Pg {
    async fn arm(
        &self,
        scope: TenantScope,
        agent: AgentId,
        arm: &ArmRequest,
    ) -> Result<ActiveJob, StoreError> {
        let arm = arm.clone();
        run_to_end!(self.for_tenant("arm a job", scope), |connection| {
            let armed = arm_locked(connection, scope, agent, &arm).await?;
            if scope.actor().is_user() {
                let about = json!({ "agent_id": agent, "job": arm.job.as_str() });
                record_act(connection, scope, Kind::JobArmed, about).await?;
            }
            Ok(armed)
        })
    }

    async fn cancel(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<CancelOutcome, StoreError> {
        let job = job.clone();
        run_to_end!(self.for_tenant("cancel a job", scope), |connection| {
            let locked = lock_job(connection, &JobKey::new(scope, agent, &job)).await?;
            let cancelled = cancel_locked(connection, locked).await?;
            if cancelled == CancelOutcome::Cancelled && scope.actor().is_user() {
                let about = json!({ "agent_id": agent, "job": job.as_str() });
                record_act(connection, scope, Kind::JobCancelled, about).await?;
            }
            Ok(cancelled)
        })
    }

    async fn armed_jobs(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ActiveJob>, StoreError> {
        run_to_end!(self.single("list armed jobs"), |connection| {
            let rows = sqlx::query_as!(
                ArmedRow,
                r#"select schedule_id as "schedule_id!", arming as "arming!", job_id as "job_id!",
                       fire_at as "fire_at!", by_inbox as "by_inbox!", target as "target!",
                       recurring or recurs as "recurring!", reports as "reports!",
                       overlap as "overlap!", catch_up_ms as "catch_up_ms!",
                       jitter_ms as "jitter_ms!"
                   from schedules_armed_for(works_for($1), $2)"#,
                scope.tenant().uuid(),
                agent.uuid()
            )
            .fetch_all(connection)
            .await?;
            rows.into_iter().map(ArmedRow::into_active_job).collect()
        })
    }

    async fn claim(&self, node: &Node, at_most: usize) -> Result<ClaimBatch, StoreError> {
        let node = node.clone();
        run_to_end!(self.across_tenants("claim fires"), |connection| {
            claim_due(connection, &node, at_most).await
        })
    }

    async fn end(&self, endings: &[FireEnding]) -> Result<Vec<bool>, StoreError> {
        let endings = endings.to_vec();
        run_to_end!(self.across_tenants("end fires"), |connection| {
            end_fires(connection, &endings).await
        })
    }

    async fn put(
        &self,
        claimed: &FireClaim,
        entry: &FireEntry,
        outcome: &str,
    ) -> Result<Option<Seq>, StoreError> {
        let (claimed, outcome) = (claimed.clone(), outcome.to_owned());
        let FireEntry { bot, chat_id, body } = entry.clone();
        let entry = LocalEntry { bot, chat_id, body };
        let entry = self.seal_entry(claimed.scope, claimed.agent, &entry).await?;
        run_to_end!(self.for_tenant("put a fire", claimed.scope), |connection| {
            let (scope, agent) = (claimed.scope, claimed.agent);
            let ending = FireEnding { claimed, end: FireEnd::Taken, outcome };
            if end_fires(connection, &[ending]).await? != [true] {
                return Ok(None);
            }
            put_local_entry(connection, scope, agent, &entry).await
        })
    }

    async fn record_retry(
        &self,
        claimed: &FireClaim,
        outcome: &str,
        wait: Duration,
        counts: bool,
    ) -> Result<bool, StoreError> {
        let retry = Retry { attempt: claimed.tries, wait, counts };
        let attempt = Attempt::new(claimed, outcome);
        run_to_end!(self.for_tenant("store an attempt", claimed.scope), |connection| {
            let locked = lock_try(connection, attempt.scope, attempt.fire).await?;
            let status = locked.and_then(|it| retry_fire(&it.fire, retry, it.now));
            let Some(status) = status else { return Ok(false) };
            attempt.write(connection, status).await?;
            Ok(true)
        })
    }

    async fn report(
        &self,
        scope: TenantScope,
        agent: AgentId,
        fire: FireId,
        report: &RunReport,
    ) -> Result<bool, StoreError> {
        let report = report.clone();
        run_to_end!(self.for_tenant("store the end of a run", scope), |connection| {
            let key = FireKey::new(scope, fire);
            let locked = lock_fires(connection, [key]).await?.remove(&key);
            let Some(locked) = locked.filter(|locked| locked.fire.fire.agent == agent) else {
                return Ok(false);
            };
            report_locked(connection, scope, locked, &report).await
        })
    }

    async fn flag_unarmed(&self) -> Result<Vec<UnarmedJob>, StoreError> {
        run_to_end!(self.single("flag jobs that are not armed"), |connection| {
            let rows = sqlx::query!(
                r#"select tenant as "tenant!", agent as "agent!", job as "job!"
                   from flag_unarmed($1, $2)"#,
                FIRES_SWEPT_MAX,
                NOTICES_KEPT_MAX
            )
            .fetch_all(connection)
            .await?;
            let unarmed = rows.into_iter().map(|row| {
                Ok(UnarmedJob {
                    scope: TenantScope::for_tenant(TenantId::from_uuid(row.tenant)),
                    agent: AgentId::from_uuid(row.agent),
                    job: job_id(row.job)?,
                })
            });
            unarmed.collect()
        })
    }
}

/// Arms a job.
async fn arm_locked(
    connection: &mut PgConnection,
    scope: TenantScope,
    agent: AgentId,
    arm: &ArmRequest,
) -> sqlx::Result<ActiveJob> {
    let LockedJob { key, job, open, now } = open_job(connection, scope, agent, arm).await?;
    let Some(plan) = arm_job(&job, &open, arm, now) else {
        return Ok(job.to_active_job());
    };
    if plan.takes_quota {
        keep_quotas(connection, &key).await?;
    }
    write_open(connection, key.tenant, &plan.superseded).await?;
    write_armed(connection, &key, &plan.job).await?;
    Ok(plan.job.to_active_job())
}

/// Cancels a job, if there is one.
async fn cancel_locked(
    connection: &mut PgConnection,
    locked: Option<LockedJob>,
) -> sqlx::Result<CancelOutcome> {
    let Some(LockedJob { key, job, open, now }) = locked else {
        return Ok(CancelOutcome::Unknown);
    };
    let plan = cancel_job(&job, &open, now);
    write_open(connection, key.tenant, &plan.ended).await?;
    write_job(connection, key, plan.job).await?;
    Ok(plan.cancelled)
}

/// Cancels every job of an agent.
pub(crate) async fn cancel_jobs(
    connection: &mut PgConnection,
    scope: TenantScope,
    agent: AgentId,
) -> sqlx::Result<()> {
    let (mut jobs, mut fires) = (JobColumns::default(), FireColumns::default());
    for LockedJob { key, job, open, now } in lock_jobs(connection, scope, agent).await? {
        let plan = cancel_job(&job, &open, now);
        for fire in plan.ended {
            fires.push(key.tenant, fire.id.uuid(), fire.status);
        }
        jobs.push(key, plan.job);
    }
    write_fires(connection, &fires, None).await?;
    write_jobs(connection, &jobs).await
}

/// One try of a fire, and its outcome.
struct Attempt {
    scope: TenantScope,
    fire: FireId,
    number: u32,
    outcome: String,
}

impl Attempt {
    fn new(claimed: &FireClaim, outcome: &str) -> Self {
        let FireClaim { scope, fire, tries, .. } = *claimed;
        Self { scope, fire, number: tries, outcome: outcome.to_owned() }
    }

    async fn write(&self, connection: &mut PgConnection, status: FireStatus) -> sqlx::Result<()> {
        let mut columns = FireColumns::default();
        columns.push_outcome(self, status);
        write_fires(connection, &columns, None).await
    }
}

/// Ends fires of different jobs. Returns true for each fire that a decision changed.
async fn end_fires(
    connection: &mut PgConnection,
    endings: &[FireEnding],
) -> sqlx::Result<Vec<bool>> {
    let keys = endings.iter().map(|ending| FireKey::new(ending.claimed.scope, ending.claimed.fire));
    let mut locked = lock_fires(connection, keys).await?;
    let (mut plan, mut ended) = (EndingPlan::default(), Vec::new());
    for ending in endings {
        let key = FireKey::new(ending.claimed.scope, ending.claimed.fire);
        ended.push(locked.remove(&key).is_some_and(|locked| plan.end(ending, locked)));
    }
    plan.write(connection).await?;
    Ok(ended)
}

/// The decided ends of fires, ready to be written.
#[derive(Default)]
struct EndingPlan {
    fires: FireColumns,
    jobs: JobColumns,
    missed: Vec<MissedFire>,
}

impl EndingPlan {
    /// Decides on the end of a fire. Returns false if the decision changes nothing.
    fn end(&mut self, ending: &FireEnding, locked: LockedFire) -> bool {
        let LockedFire { key, job, mut fire, now } = locked;
        let attempt = Attempt::new(&ending.claimed, &ending.outcome);
        let Some(step) = end_fire(&fire, &job, attempt.number, ending.end, now) else {
            return false;
        };
        self.fires.push_outcome(&attempt, step.fire);
        if step.job != job.status {
            self.jobs.push(key, step.job);
        }
        if step.fire.state == FireState::Missed {
            fire.set_status(step.fire);
            fire.fire.outcome = Some(attempt.outcome);
            self.missed.push(MissedFire::new(attempt.scope, &fire.fire));
        }
        true
    }

    async fn write(self, connection: &mut PgConnection) -> sqlx::Result<()> {
        write_fires(connection, &self.fires, None).await?;
        write_jobs(connection, &self.jobs).await?;
        notice_missed(connection, self.missed).await
    }
}

/// Records the end of a run. Returns false if the decision changes nothing.
async fn report_locked(
    connection: &mut PgConnection,
    scope: TenantScope,
    locked: LockedFire,
    report: &RunReport,
) -> sqlx::Result<bool> {
    let LockedFire { key, job, fire, now } = locked;
    let id = fire.fire.id;
    match report_run(&fire, &job, now) {
        ReportStep::Ignored => return Ok(false),
        ReportStep::RunEnded => {}
        ReportStep::TakenAndRunEnded(step) => {
            let outcome = REPORTED.to_owned();
            let attempt = Attempt { scope, fire: id, number: fire.fire.tries, outcome };
            attempt.write(connection, step.fire).await?;
            write_job(connection, key.clone(), step.job).await?;
        }
    }
    write_run(connection, key.tenant, id.uuid(), report, now).await?;
    release_fires(connection, &key).await?;
    Ok(true)
}

/// Makes the fires due that wait for a run of their job.
async fn release_fires(connection: &mut PgConnection, key: &JobKey) -> sqlx::Result<()> {
    let Some(LockedJob { open, now, .. }) = lock_job(connection, key).await? else {
        return Ok(());
    };
    let release =
        |fire: &OpenFire| Some(OpenFire { status: release_held(fire.status, now)?, ..*fire });
    let released: Vec<_> = open.iter().filter_map(release).collect();
    write_open(connection, key.tenant, &released).await
}

async fn write_open(
    connection: &mut PgConnection,
    tenant: Uuid,
    fires: &[OpenFire],
) -> sqlx::Result<()> {
    let mut columns = FireColumns::default();
    for fire in fires {
        columns.push(tenant, fire.id.uuid(), fire.status);
    }
    write_fires(connection, &columns, None).await
}

async fn write_job(
    connection: &mut PgConnection,
    key: JobKey,
    status: JobStatus,
) -> sqlx::Result<()> {
    let mut columns = JobColumns::default();
    columns.push(key, status);
    write_jobs(connection, &columns).await
}
