//! The contract between the schedule and its store.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, Arming, BotId, FireId, Node, ScheduleId, Seq, StoreError, TenantScope, Timestamp,
};

use crate::fire::{Fire, FireClaim, FireEnding, FireState};
use crate::job::{ArmRequest, JobId, Target};

/// A job that is armed, or whose fire is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveJob {
    /// The id, the same over every arming.
    pub id: ScheduleId,
    /// The number of this arming.
    pub arming: Arming,
    /// The request that it is armed with.
    pub arm: ArmRequest,
}

/// The result of a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The agent is not called for the job from now on.
    Cancelled,
    /// A call is under way: it is too late.
    UnderWay,
    /// No such job is armed.
    Unknown,
}

/// The result of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimBatch {
    /// The fires to deliver.
    pub fires: Vec<FireClaim>,
    /// The fires that were due and ended without a call: skipped or missed.
    pub passed: Vec<Fire>,
    /// The time until the next job or try is due.
    pub next_in: Option<Duration>,
}

impl ClaimBatch {
    /// Adds a fire as a claim left it. A fire that is held for the end of a run is not part of the result.
    pub fn add(&mut self, scope: TenantScope, to: &Target, fire: Fire) {
        match fire.state {
            FireState::Open => self.fires.push(FireClaim {
                scope,
                agent: fire.agent,
                job: fire.job,
                fire: fire.id,
                fire_at: fire.fire_at,
                to: to.clone(),
                tries: fire.tries,
                outcome: fire.outcome,
            }),
            FireState::Held => {}
            FireState::Fired | FireState::Late | FireState::Skipped | FireState::Missed => {
                self.passed.push(fire);
            }
        }
    }
}

/// The inbox entry of a fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FireEntry {
    /// The bot that it is addressed through.
    pub bot: BotId,
    /// The chat.
    pub chat_id: String,
    /// The wire form.
    pub body: Vec<u8>,
}

/// An agent's report of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// True if the run succeeded.
    pub ok: bool,
    /// The agent's note.
    pub note: Option<String>,
}

/// A recurring job that its agent did not arm again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnarmedJob {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The job.
    pub job: JobId,
}

/// Stores jobs and fires. Only the store's clock decides when they are due.
#[async_trait]
pub trait Store: Send + Sync {
    /// Arms a job and replaces its earlier arming. If the job is already armed so, or a fire of this very instant is
    /// open, nothing changes.
    ///
    /// A fire of an earlier arming that waits for its next try, or for a run to end, ends as superseded; a fire whose
    /// call is under way is not tried again. A job that is armed again after it fired is recurring from then on.
    ///
    /// Returns an error if the tenant or the agent is over its quota of armed jobs.
    async fn arm(
        &self,
        scope: TenantScope,
        agent: AgentId,
        arm: &ArmRequest,
    ) -> Result<ActiveJob, StoreError>;

    /// Cancels a job. A fire that waits for its next try, or for a run to end, ends with it. A call that is under way
    /// goes on, but is not retried. A cancelled job is not flagged as unarmed.
    async fn cancel(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<CancelOutcome, StoreError>;

    /// Returns the armed jobs of an agent and those with an open fire, by name.
    async fn armed_jobs(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ActiveJob>, StoreError>;

    /// Claims at most `at_most` due items, the longest due first: jobs at their instant, and fires at their next try. A
    /// fire that began [`FIRE_DEADLINE`] ago is missed. A claim lasts [`FIRE_CALL_HELD`], so a node that dies delays
    /// its fires by no more than that. A node whose epoch is over gets nothing.
    ///
    /// [`FIRE_CALL_HELD`]: nightdesk_types::limits::FIRE_CALL_HELD
    /// [`FIRE_DEADLINE`]: nightdesk_types::limits::FIRE_DEADLINE
    async fn claim(&self, node: &Node, at_most: usize) -> Result<ClaimBatch, StoreError>;

    /// Records the ends of fires of different jobs. Returns true for each fire that was still open. `Taken` counts for
    /// every try, a failure only for the newest.
    async fn end(&self, endings: &[FireEnding]) -> Result<Vec<bool>, StoreError>;

    /// Puts an entry into the agent's inbox and ends the fire as taken, in one transaction. Returns the entry's number,
    /// or `None` if the fire was not open any more and nothing was put.
    async fn put(
        &self,
        claimed: &FireClaim,
        entry: &FireEntry,
        outcome: &str,
    ) -> Result<Option<Seq>, StoreError>;

    /// Records the outcome of a try, and makes the next one due after `wait`. Returns true if this try was still the
    /// newest. If `counts` is false, no call was made and the try is not counted.
    async fn record_retry(
        &self,
        claimed: &FireClaim,
        outcome: &str,
        wait: Duration,
        counts: bool,
    ) -> Result<bool, StoreError>;

    /// Records the end of a run, and releases the fire that waits for it. Returns true if this agent had such a fire
    /// without a report. A report proves that the agent took the fire, even if its response was lost.
    async fn report(
        &self,
        scope: TenantScope,
        agent: AgentId,
        fire: FireId,
        report: &RunReport,
    ) -> Result<bool, StoreError>;

    /// Flags recurring jobs that should be armed by now and are not, writes a notice for each owner, and returns the
    /// jobs. Each job is returned once.
    async fn flag_unarmed(&self) -> Result<Vec<UnarmedJob>, StoreError>;
}

/// A job as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledJob {
    /// The id.
    pub id: ScheduleId,
    /// The agent.
    pub agent: AgentId,
    /// The agent's name.
    pub agent_name: String,
    /// The number of the newest arming.
    pub arming: Arming,
    /// The request that armed it last.
    pub arm: ArmRequest,
    /// The time of the next claim; `None`: the job is not armed.
    pub next_at: Option<Timestamp>,
    /// The time at which it was found unarmed.
    pub flagged_at: Option<Timestamp>,
    /// The newest fire.
    pub last: Option<Fire>,
}

/// The operator's view of jobs.
#[async_trait]
pub trait JobAdmin: Send + Sync {
    /// Returns the jobs of a tenant or of one agent, armed or not, one page by agent and name.
    async fn list_jobs(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        after: Option<(AgentId, JobId)>,
    ) -> Result<Vec<ScheduledJob>, StoreError>;

    /// Returns one job.
    async fn find_job(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<Option<ScheduledJob>, StoreError>;

    /// Returns the fires of a tenant, an agent or a job, newest first, at most one page.
    async fn list_fires(
        &self,
        scope: TenantScope,
        of: Option<(AgentId, Option<JobId>)>,
        before: Option<FireId>,
    ) -> Result<Vec<Fire>, StoreError>;
}
