//! Jobs of agents, and their fires.

mod views;

use std::time::Duration;

use nightdesk_schedule::{
    ArmError, ArmRequest, BadJob, CancelOutcome, FireAt, JobId, Policies, ScheduledJob, Target,
};
use nightdesk_types::{AgentId, TenantScope};
use serde_json::Value;

use crate::error::OfficeError;
use crate::inbox::TextAccess;
use crate::office::Office;
use views::{armed_view, job_json};

pub use views::{
    ArmedJobView, FireListQuery, FireView, JobCancelView, JobFireView, JobListQuery, JobView,
    NewJobRequest,
};

impl Office {
    /// Returns a page of a tenant's jobs, armed or not, by agent and name.
    pub async fn jobs(
        &self,
        scope: TenantScope,
        filter: &JobListQuery,
    ) -> Result<Vec<JobView>, OfficeError> {
        let agent = self.named_agent(scope, filter.agent.as_deref()).await?;
        let after = filter.after.as_deref().map(read_key).transpose()?;
        let jobs = self.store.list_jobs(scope, agent, after).await?;
        Ok(jobs.iter().map(JobView::from).collect())
    }

    /// Returns one job; with the text of its message only for a caller that may read messages.
    pub async fn job(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &str,
        content: TextAccess,
    ) -> Result<Value, OfficeError> {
        Ok(job_json(&self.find_job(scope, agent, &read_job(job)?).await?, content))
    }

    /// Returns a page of the fires of a tenant's jobs, newest first.
    pub async fn fires(
        &self,
        scope: TenantScope,
        filter: &FireListQuery,
    ) -> Result<Vec<FireView>, OfficeError> {
        let agent = self.named_agent(scope, filter.agent.as_deref()).await?;
        let job = filter.job.as_deref().map(read_job).transpose()?;
        if job.is_some() && agent.is_none() {
            return Err(OfficeError::Invalid("name the agent of the job".to_owned()));
        }
        let before = filter.before.as_deref().map(str::parse).transpose();
        let before =
            before.map_err(|_| OfficeError::Invalid("before takes the id of a fire".to_owned()))?;
        let fires = self.store.list_fires(scope, agent.map(|agent| (agent, job)), before).await?;
        Ok(fires.iter().map(FireView::from).collect())
    }

    /// Arms a job that fires once. If it is armed for that time with that target, returns it.
    pub async fn add_job(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &str,
        request: NewJobRequest,
    ) -> Result<(ArmedJobView, bool), OfficeError> {
        let arm = self.new_arm(read_job(job)?, request).await?;
        let found = self.store.find_job(scope, agent, &arm.job).await?;
        if let Some(armed) = found.filter(|found| found.next_at.is_some()) {
            if (&armed.arm.fire_at, &armed.arm.to) != (&arm.fire_at, &arm.to) {
                return Err(OfficeError::Conflict(format!(
                    "the agent has a job called {} already; choose another name, or cancel it",
                    arm.job
                )));
            }
            return Ok((armed_view(agent, &arm, armed.id), false));
        }
        let armed = self.desk.stops.schedule.arm(scope, agent, &arm).await?;
        Ok((armed_view(agent, &arm, armed.id), true))
    }

    /// Fires a job now, in place of its next time.
    pub async fn fire_job(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &str,
    ) -> Result<JobFireView, OfficeError> {
        let found = self.find_job(scope, agent, &read_job(job)?).await?;
        let now = self.desk.stops.register.store().time().await?;
        let arm = ArmRequest { fire_at: FireAt::from_timestamp(now), ..found.arm };
        let armed = self.desk.stops.schedule.arm(scope, agent, &arm).await?;
        Ok(JobFireView {
            agent_id: agent,
            job: arm.job.to_string(),
            arming: armed.arming,
            next: "`nightdesk schedule history` shows the result",
        })
    }

    /// Cancels a job: it is not fired any more.
    pub async fn cancel_job(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &str,
    ) -> Result<JobCancelView, OfficeError> {
        let job = read_job(job)?;
        match self.desk.stops.schedule.cancel(scope, agent, &job).await? {
            CancelOutcome::Cancelled => {
                Ok(JobCancelView { agent_id: agent, job: job.to_string(), cancelled: true })
            }
            CancelOutcome::UnderWay => Err(OfficeError::Conflict(format!(
                "the fire of {job} is being delivered and cannot be cancelled; \
                 `nightdesk schedule history` shows the result"
            ))),
            CancelOutcome::Unknown => Err(unknown_job(&job)),
        }
    }

    async fn find_job(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<ScheduledJob, OfficeError> {
        self.store.find_job(scope, agent, job).await?.ok_or_else(|| unknown_job(job))
    }

    async fn named_agent(
        &self,
        scope: TenantScope,
        called: Option<&str>,
    ) -> Result<Option<AgentId>, OfficeError> {
        match called {
            Some(called) => self.agent(scope, called).await.map(Some),
            None => Ok(None),
        }
    }

    async fn new_arm(&self, job: JobId, request: NewJobRequest) -> Result<ArmRequest, OfficeError> {
        if job.is_of_letters() {
            return Err(OfficeError::Invalid(format!(
                "a name that begins with {} is the desk's own; choose another",
                JobId::OF_LETTERS
            )));
        }
        let NewJobRequest { fire_at, in_seconds, say, callback } = request;
        let fire_at = match (fire_at, in_seconds) {
            (Some(at), None) => FireAt::parse(at)?,
            (None, Some(seconds)) => self.fire_in(seconds).await?,
            (Some(_), Some(_)) | (None, None) => {
                return Err(OfficeError::Invalid("send either fire_at or in_seconds".to_owned()));
            }
        };
        let to = match (say, callback) {
            (Some(words), None) => Target::inbox(words)?,
            (None, Some(url)) => Target::Callback(
                self.desk.stops.schedule.may_call(&url).map_err(|why| bad_callback(&why))?,
            ),
            (Some(_), Some(_)) | (None, None) => {
                return Err(OfficeError::Invalid("send either say or callback".to_owned()));
            }
        };
        let policies = Policies::default();
        Ok(ArmRequest { job, fire_at, to, recurring: false, reports: false, policies })
    }

    async fn fire_in(&self, seconds: u64) -> Result<FireAt, OfficeError> {
        let now = self.desk.stops.register.store().time().await?;
        let at = now
            .checked_add(Duration::from_secs(seconds))
            .map_err(|_| OfficeError::Invalid("the time is too far in the future".to_owned()))?;
        Ok(FireAt::parse(at.to_string())?)
    }
}

fn read_job(job: &str) -> Result<JobId, OfficeError> {
    Ok(JobId::new(job)?)
}

/// Reads the `key` of a job.
fn read_key(text: &str) -> Result<(AgentId, JobId), OfficeError> {
    let parts = text.split_once('/');
    let key = parts.and_then(|(agent, job)| Some((agent.parse().ok()?, JobId::new(job).ok()?)));
    key.ok_or_else(|| {
        OfficeError::Invalid("after takes `key` of the last job of the previous page".to_owned())
    })
}

fn unknown_job(job: &JobId) -> OfficeError {
    OfficeError::NotFound(format!(
        "the agent has no job called {job}; `nightdesk schedule list` shows them"
    ))
}

fn bad_callback(why: &str) -> OfficeError {
    OfficeError::Invalid(format!("the callback cannot be called: {why}"))
}

impl From<BadJob> for OfficeError {
    fn from(bad: BadJob) -> Self {
        Self::Invalid(bad.to_string())
    }
}

impl From<ArmError> for OfficeError {
    fn from(error: ArmError) -> Self {
        match error {
            ArmError::Callback(why) => bad_callback(&why),
            ArmError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_on_after_a_key() {
        let agent: AgentId = "00000000-0000-0000-0000-000000000007".parse().unwrap();
        let job = JobId::new("a/b").unwrap();

        assert_eq!(read_key(&format!("{agent}/a/b")).unwrap(), (agent, job));
        for bad in ["", "nonsense", "x/a", &format!("{agent}/")] {
            assert!(read_key(bad).is_err(), "{bad}");
        }
    }
}
