//! The operator's view of jobs.

use async_trait::async_trait;
use nightdesk_schedule::{Fire, JobAdmin, JobId, ScheduledJob};
use nightdesk_types::limits::{FIRES_PAGE_MAX, LIST_ROWS_MAX};
use nightdesk_types::{AgentId, FireId, StoreError, TenantScope};
use sqlx::PgConnection;
use uuid::Uuid;

use super::row::{ArmedRow, FireRow};
use crate::Pg;

#[async_trait]
impl JobAdmin for Pg {
    async fn list_jobs(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        after: Option<(AgentId, JobId)>,
    ) -> Result<Vec<ScheduledJob>, StoreError> {
        let after = after.map(|(agent, job)| (agent.uuid(), job.as_str().to_owned()));
        let filter = JobFilter { agent: agent.map(AgentId::uuid), job: None, after };
        run_to_end!(self.for_tenant("list jobs", scope), |connection| {
            find_jobs(connection, scope.tenant().uuid(), filter).await
        })
    }

    async fn find_job(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<Option<ScheduledJob>, StoreError> {
        let job = Some(job.as_str().to_owned());
        let filter = JobFilter { agent: Some(agent.uuid()), job, after: None };
        run_to_end!(self.for_tenant("read a job", scope), |connection| {
            Ok(find_jobs(connection, scope.tenant().uuid(), filter).await?.into_iter().next())
        })
    }

    async fn list_fires(
        &self,
        scope: TenantScope,
        of: Option<(AgentId, Option<JobId>)>,
        before: Option<FireId>,
    ) -> Result<Vec<Fire>, StoreError> {
        let (agent, job) = of.map_or((None, None), |(agent, job)| (Some(agent), job));
        run_to_end!(self.for_tenant("list fires", scope), |connection| {
            let rows = sqlx::query_as!(
                FireRow,
                r#"select fire_id as "fire_id!", agent_id as "agent_id!", job_id as "job_id!",
                       arming as "arming!", fire_at as "fire_at!", state as "state!", cause,
                       tries as "tries!", outcome,
                       began_at as "began_at!: jiff_sqlx::Timestamp",
                       ended_at as "ended_at: jiff_sqlx::Timestamp",
                       run_ended_at as "run_ended_at: jiff_sqlx::Timestamp", run_ok, run_note
                   from fires_page($1, $2, $3, $4, $5)"#,
                scope.tenant().uuid(),
                agent.map(AgentId::uuid),
                job.as_ref().map(JobId::as_str),
                before.map(FireId::uuid),
                i32::try_from(FIRES_PAGE_MAX).unwrap_or(i32::MAX)
            )
            .fetch_all(connection)
            .await?;
            rows.into_iter().map(FireRow::fire).collect()
        })
    }
}

/// The filter for jobs.
struct JobFilter {
    agent: Option<Uuid>,
    job: Option<String>,
    after: Option<(Uuid, String)>,
}

async fn find_jobs(
    connection: &mut PgConnection,
    tenant: Uuid,
    filter: JobFilter,
) -> sqlx::Result<Vec<ScheduledJob>> {
    let (after_agent, after_job) = filter.after.unwrap_or_default();
    // One agent is a range of ids too. So the index serves both cases with one statement.
    let first = filter.agent.unwrap_or(Uuid::nil());
    let last = filter.agent.unwrap_or(Uuid::max());
    let rows = sqlx::query_as!(
        JobRow,
        r#"select s.schedule_id, s.agent_id, s.job_id, s.arming, s.fire_at, s.by_inbox, s.target,
               s.recurring or s.recurs as "recurring!", s.reports, s.overlap, s.catch_up_ms,
               s.jitter_ms, s.next_at as "next_at: jiff_sqlx::Timestamp",
               s.flagged_at as "flagged_at: jiff_sqlx::Timestamp", a.name as agent_name,
               f.fire_id as "last_id?", f.arming as "last_arming?", f.fire_at as "last_fire_at?",
               f.state as "last_state?", f.cause as last_cause, f.tries as "last_tries?",
               f.outcome as last_outcome, f.began_at as "last_began_at?: jiff_sqlx::Timestamp",
               f.ended_at as "last_ended_at?: jiff_sqlx::Timestamp",
               f.run_ended_at as "last_run_ended_at?: jiff_sqlx::Timestamp",
               f.run_ok as last_run_ok, f.run_note as last_run_note
           from schedules s
               join agents a on a.tenant_id = s.tenant_id and a.agent_id = s.agent_id
               left join lateral (
                   select o.* from fires o
                   where o.tenant_id = s.tenant_id and o.agent_id = s.agent_id
                     and o.job_id = s.job_id
                   order by o.began_at desc, o.fire_id desc limit 1
               ) as f on true
           where s.tenant_id = $1 and s.agent_id >= $2 and s.agent_id <= $3
             and coalesce(s.job_id = $4, true) and (s.agent_id, s.job_id) > ($5, $6)
           order by s.agent_id, s.job_id limit $7"#,
        tenant,
        first,
        last,
        filter.job,
        after_agent,
        after_job,
        LIST_ROWS_MAX
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(JobRow::job).collect()
}

struct JobRow {
    schedule_id: Uuid,
    agent_id: Uuid,
    job_id: String,
    arming: i64,
    fire_at: String,
    by_inbox: bool,
    target: String,
    recurring: bool,
    reports: bool,
    overlap: String,
    catch_up_ms: i64,
    jitter_ms: i64,
    next_at: Option<jiff_sqlx::Timestamp>,
    flagged_at: Option<jiff_sqlx::Timestamp>,
    agent_name: String,
    last_id: Option<Uuid>,
    last_arming: Option<i64>,
    last_fire_at: Option<String>,
    last_state: Option<String>,
    last_cause: Option<String>,
    last_tries: Option<i32>,
    last_outcome: Option<String>,
    last_began_at: Option<jiff_sqlx::Timestamp>,
    last_ended_at: Option<jiff_sqlx::Timestamp>,
    last_run_ended_at: Option<jiff_sqlx::Timestamp>,
    last_run_ok: Option<bool>,
    last_run_note: Option<String>,
}

impl JobRow {
    fn job(self) -> sqlx::Result<ScheduledJob> {
        let last = self.last().map(FireRow::fire).transpose()?;
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
        let armed = armed.into_active_job()?;
        Ok(ScheduledJob {
            id: armed.id,
            agent: AgentId::from_uuid(self.agent_id),
            agent_name: self.agent_name,
            arming: armed.arming,
            arm: armed.arm,
            next_at: self.next_at.map(jiff_sqlx::Timestamp::to_jiff),
            flagged_at: self.flagged_at.map(jiff_sqlx::Timestamp::to_jiff),
            last,
        })
    }

    fn last(&self) -> Option<FireRow> {
        Some(FireRow {
            fire_id: self.last_id?,
            agent_id: self.agent_id,
            job_id: self.job_id.clone(),
            arming: self.last_arming?,
            fire_at: self.last_fire_at.clone()?,
            state: self.last_state.clone()?,
            cause: self.last_cause.clone(),
            tries: self.last_tries?,
            outcome: self.last_outcome.clone(),
            began_at: self.last_began_at?,
            ended_at: self.last_ended_at,
            run_ended_at: self.last_run_ended_at,
            run_ok: self.last_run_ok,
            run_note: self.last_run_note.clone(),
        })
    }
}
