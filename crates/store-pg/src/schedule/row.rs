//! Conversion of the rows of jobs and fires.

use std::time::Duration;

use nightdesk_schedule::{
    ActiveJob, ArmRequest, Fire, FireAt, FireCause, FireState, JobId, Overlap, Policies, Target,
};
use nightdesk_types::{AgentId, Arming, FireId, ScheduleId};
use uuid::Uuid;

use crate::row::bad_column;

pub(super) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn target_columns(to: Target) -> (bool, String) {
    match to {
        Target::Callback(url) => (false, url),
        Target::Inbox(words) => (true, words),
    }
}

const fn target(by_inbox: bool, text: String) -> Target {
    if by_inbox { Target::Inbox(text) } else { Target::Callback(text) }
}

pub(super) fn job_id(text: String) -> sqlx::Result<JobId> {
    JobId::new(text).map_err(|_| bad_column("schedules", "job_id"))
}

fn fire_at(text: String) -> sqlx::Result<FireAt> {
    FireAt::parse(text).map_err(|_| bad_column("schedules", "fire_at"))
}

fn cause(slug: Option<&str>) -> sqlx::Result<Option<FireCause>> {
    let known = |slug| FireCause::from_slug(slug).ok_or_else(|| bad_column("fires", "cause"));
    slug.map(known).transpose()
}

fn state(slug: &str) -> sqlx::Result<FireState> {
    FireState::from_slug(slug).ok_or_else(|| bad_column("fires", "state"))
}

/// A job with the request that armed it.
pub(super) struct ArmedRow {
    pub(super) schedule_id: Uuid,
    pub(super) arming: i64,
    pub(super) job_id: String,
    pub(super) fire_at: String,
    pub(super) by_inbox: bool,
    pub(super) target: String,
    pub(super) recurring: bool,
    pub(super) reports: bool,
    pub(super) overlap: String,
    pub(super) catch_up_ms: i64,
    pub(super) jitter_ms: i64,
}

impl ArmedRow {
    pub(super) fn into_active_job(self) -> sqlx::Result<ActiveJob> {
        let overlap = Overlap::from_slug(&self.overlap);
        let policies = Policies {
            overlap: overlap.ok_or_else(|| bad_column("schedules", "overlap"))?,
            catch_up: Duration::from_millis(self.catch_up_ms.unsigned_abs()),
            jitter: Duration::from_millis(self.jitter_ms.unsigned_abs()),
        };
        Ok(ActiveJob {
            id: ScheduleId::from_uuid(self.schedule_id),
            arming: Arming::new(self.arming),
            arm: ArmRequest {
                job: job_id(self.job_id)?,
                fire_at: fire_at(self.fire_at)?,
                to: target(self.by_inbox, self.target),
                recurring: self.recurring,
                reports: self.reports,
                policies,
            },
        })
    }
}

/// A fire's row.
pub(super) struct FireRow {
    pub(super) fire_id: Uuid,
    pub(super) agent_id: Uuid,
    pub(super) job_id: String,
    pub(super) arming: i64,
    pub(super) fire_at: String,
    pub(super) state: String,
    pub(super) cause: Option<String>,
    pub(super) tries: i32,
    pub(super) outcome: Option<String>,
    pub(super) began_at: jiff_sqlx::Timestamp,
    pub(super) ended_at: Option<jiff_sqlx::Timestamp>,
    pub(super) run_ended_at: Option<jiff_sqlx::Timestamp>,
    pub(super) run_ok: Option<bool>,
    pub(super) run_note: Option<String>,
}

impl FireRow {
    pub(super) fn fire(self) -> sqlx::Result<Fire> {
        let run = self.run_ended_at.zip(self.run_ok);
        Ok(Fire {
            id: FireId::from_uuid(self.fire_id),
            agent: AgentId::from_uuid(self.agent_id),
            job: job_id(self.job_id)?,
            arming: Arming::new(self.arming),
            fire_at: fire_at(self.fire_at)?,
            state: state(&self.state)?,
            cause: cause(self.cause.as_deref())?,
            tries: self.tries.unsigned_abs(),
            outcome: self.outcome,
            began_at: self.began_at.to_jiff(),
            ended_at: self.ended_at.map(jiff_sqlx::Timestamp::to_jiff),
            run: run.map(|(ended_at, ok)| (ended_at.to_jiff(), ok, self.run_note)),
        })
    }
}
