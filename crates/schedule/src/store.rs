//! What scheduling asks of a store.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, Arming, BotId, FireId, Node, ScheduleId, Seq, StoreError, TenantScope, Timestamp,
};

use crate::fire::{Claimed, End, Fire, FireState};
use crate::job::{Arm, JobId, Target};

/// A job that is armed, or whose fire is being told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Armed {
    /// Its id, the same over every arming.
    pub id: ScheduleId,
    /// The number of this arming.
    pub arming: Arming,
    /// What it is armed with.
    pub arm: Arm,
}

/// What came of cancelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The agent is not told of the job from now on.
    Cancelled,
    /// The agent is just being told: it is too late.
    UnderWay,
    /// No such job is armed.
    Unknown,
}

/// What a claim brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// What is to be told.
    pub fires: Vec<Claimed>,
    /// What was due and is over without having been told: left out, or missed.
    pub passed: Vec<Fire>,
    /// How long until something more is due, if anything is.
    pub next_in: Option<Duration>,
}

impl Claims {
    /// Adds a fire as a claim left it. A fire that is held for the end of a run is not part of the result.
    pub fn add(&mut self, scope: TenantScope, to: &Target, fire: Fire) {
        match fire.state {
            FireState::Open => self.fires.push(Claimed {
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

/// What an agent is told of a fire through its inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FireEntry {
    /// The bot through which it seems to come.
    pub bot: BotId,
    /// The chat.
    pub chat_id: String,
    /// Its wire form.
    pub body: Vec<u8>,
}

/// What an agent says of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether it went well.
    pub ok: bool,
    /// What else it has to say.
    pub note: Option<String>,
}

/// A recurring job that its agent did not arm again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unarmed {
    /// Whose agent it is.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The job.
    pub job: JobId,
}

/// Keeps when jobs are due. Only the store's clock counts.
#[async_trait]
pub trait Store: Send + Sync {
    /// Arms a job, in place of what it was armed with before. Asked again for what it is armed with,
    /// or for the very instant that is just being told, nothing changes.
    ///
    /// A fire of an earlier arming that waits for its next try, or for a run to end, is over then, as
    /// superseded; one whose call is under way is not tried again. A job that is armed again after it
    /// fired is recurring from then on.
    ///
    /// Over the tenant's or the agent's quota of armed jobs, that is the error.
    async fn arm(&self, scope: TenantScope, agent: AgentId, arm: &Arm)
    -> Result<Armed, StoreError>;

    /// Cancels a job. What waits for its next try, or for a run to end, is over with it; what is being
    /// told at this moment is not, but is not tried again either. A job that is cancelled is not missed
    /// when it is not armed.
    async fn cancel(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<Cancelled, StoreError>;

    /// What is armed for an agent, and what it is still to be told of, by the job's name.
    async fn armed(&self, scope: TenantScope, agent: AgentId) -> Result<Vec<Armed>, StoreError>;

    /// Takes what is due, at most so many, the longest due first: jobs whose instant came, and fires
    /// whose next try did. What began [`FIRE_DEADLINE`] ago is missed. Each is held for [`FIRE_CALL_HELD`]; whoever dies with it costs no more than
    /// that. A node whose life is over gets nothing.
    ///
    /// [`FIRE_CALL_HELD`]: nightdesk_types::limits::FIRE_CALL_HELD
    /// [`FIRE_DEADLINE`]: nightdesk_types::limits::FIRE_DEADLINE
    async fn claim(&self, node: &Node, at_most: usize) -> Result<Claims, StoreError>;

    /// Notes how a fire ended. Answers whether it was still open: then it ended so, and not otherwise.
    /// That the agent took it counts whoever heard it.
    async fn end(&self, claimed: &Claimed, end: End, outcome: &str) -> Result<bool, StoreError>;

    /// Puts an entry into the agent's inbox, by which it takes the fire: both are done, or neither is.
    /// Answers its number; `None`: the fire was not open any more, and nothing was put.
    async fn put(
        &self,
        claimed: &Claimed,
        entry: &FireEntry,
        outcome: &str,
    ) -> Result<Option<Seq>, StoreError>;

    /// Notes what came of a try, and that the next one is due after so long. Answers whether this try
    /// was still the newest. If `counts` is not set, the call was not made.
    async fn again(
        &self,
        claimed: &Claimed,
        outcome: &str,
        wait: Duration,
        counts: bool,
    ) -> Result<bool, StoreError>;

    /// Notes the end of a run, and lets go what waits for it. Answers whether that agent took such a fire,
    /// and said nothing of it yet. Who reports took it: if we did not hear so, we do now.
    async fn report(
        &self,
        (scope, agent): (TenantScope, AgentId),
        fire: FireId,
        report: &Report,
    ) -> Result<bool, StoreError>;

    /// Flags recurring jobs that are not armed although they should be by now, tells their owners by
    /// a notice, and answers which. Each is told once.
    async fn flag_unarmed(&self) -> Result<Vec<Unarmed>, StoreError>;
}

/// A job as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: ScheduleId,
    /// Whose it is.
    pub agent: AgentId,
    /// What that agent is called.
    pub agent_name: String,
    /// How often it was armed.
    pub arming: Arming,
    /// What it is armed with, or was last.
    pub arm: Arm,
    /// When it is looked at next; `None`: it is not armed.
    pub next_at: Option<Timestamp>,
    /// Since when it should be armed and is not.
    pub flagged_at: Option<Timestamp>,
    /// Its newest fire.
    pub last: Option<Fire>,
}

/// What an operator sees of jobs.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// A tenant's jobs, or those of one agent, armed or not, a page at a time by agent and name.
    async fn jobs(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        after: Option<(AgentId, JobId)>,
    ) -> Result<Vec<Job>, StoreError>;

    /// One job.
    async fn job(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<Option<Job>, StoreError>;

    /// Fires of a tenant, of an agent, or of a job of its, newest first, at most a page.
    async fn fires(
        &self,
        scope: TenantScope,
        of: Option<(AgentId, Option<JobId>)>,
        before: Option<FireId>,
    ) -> Result<Vec<Fire>, StoreError>;
}
