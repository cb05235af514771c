//! Jobs and fires as callers see them.

use nightdesk_schedule::{ArmRequest, Fire, FireCause, ScheduledJob, Target};
use nightdesk_types::{AgentId, Arming, FireId, ScheduleId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::inbox::TextAccess;
use crate::times::seconds;

/// A job in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct JobView {
    /// The agent's name.
    pub agent: String,
    /// The agent's id for the job.
    pub job: String,
    /// The time of the next fire.
    pub due: Option<String>,
    /// `armed`, `not armed`, or `should be armed`.
    pub state: &'static str,
    /// The state of the last fire.
    pub last: Option<&'static str>,
    /// The time of the last fire.
    pub last_at: Option<String>,
    /// The position of the job in the list, for the next page.
    pub key: String,
}

impl From<&ScheduledJob> for JobView {
    fn from(job: &ScheduledJob) -> Self {
        let last = job.last.as_ref();
        Self {
            agent: job.agent_name.clone(),
            job: job.arm.job.to_string(),
            due: job.next_at.map(seconds),
            state: match (job.next_at, job.flagged_at) {
                (Some(_), _) => "armed",
                (None, Some(_)) => "should be armed",
                (None, None) => "not armed",
            },
            last: last.map(|fire| fire.state.slug()),
            last_at: last.map(|fire| seconds(fire.fire_at.instant())),
            key: format!("{}/{}", job.agent, job.arm.job),
        }
    }
}

/// The result of a fire.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FireView {
    /// The time at which it was due.
    pub due: String,
    /// The job.
    pub job: String,
    /// `open`, `held`, `fired`, `late`, `skipped` or `missed`.
    pub state: &'static str,
    /// The reason for which the agent did not take it.
    pub cause: Option<&'static str>,
    /// The number of tries.
    pub tries: u32,
    /// The outcome of the last try.
    pub outcome: Option<String>,
    /// The time of the first try.
    pub began: String,
    /// The time at which it was taken, skipped or missed.
    pub ended: Option<String>,
    /// The end of its run, as the agent reported it.
    pub run_ended: Option<String>,
    /// True if the run succeeded.
    pub run_ok: Option<bool>,
    /// The agent's note about the run.
    pub run_note: Option<String>,
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The id.
    #[schema(value_type = String)]
    pub fire_id: FireId,
}

impl From<&Fire> for FireView {
    fn from(fire: &Fire) -> Self {
        let run = fire.run.as_ref();
        Self {
            due: seconds(fire.fire_at.instant()),
            job: fire.job.to_string(),
            state: fire.state.slug(),
            cause: fire.cause.map(FireCause::slug),
            tries: fire.tries,
            outcome: fire.outcome.clone(),
            began: seconds(fire.began_at),
            ended: fire.ended_at.map(seconds),
            run_ended: run.map(|(at, _, _)| seconds(*at)),
            run_ok: run.map(|(_, ok, _)| *ok),
            run_note: run.and_then(|(_, _, note)| note.clone()),
            agent_id: fire.agent,
            fire_id: fire.id,
        }
    }
}

/// A job that fires once.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewJobRequest {
    /// The time, with an offset from UTC.
    #[serde(default)]
    pub fire_at: Option<String>,
    /// The delay in seconds, in place of the time.
    #[serde(default)]
    pub in_seconds: Option<u64>,
    /// The text of the message in the agent's inbox.
    #[serde(default)]
    pub say: Option<String>,
    /// The URL that is called, in place of the message.
    #[serde(default)]
    pub callback: Option<String>,
}

/// A job that was armed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ArmedJobView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The job.
    pub job: String,
    /// The id of the job.
    #[schema(value_type = String)]
    pub schedule_id: ScheduleId,
    /// The time of its fire.
    pub due: String,
}

/// A job that fires now.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct JobFireView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The job.
    pub job: String,
    /// The number of the arming.
    #[schema(value_type = i64)]
    pub arming: Arming,
    /// The next step.
    pub next: &'static str,
}

/// A job that was cancelled.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct JobCancelView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The job.
    pub job: String,
    /// True.
    pub cancelled: bool,
}

/// The fires that a caller wants.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct FireListQuery {
    /// Only this agent, by name or id.
    #[serde(default)]
    pub agent: Option<String>,
    /// Only this job of the agent.
    #[serde(default)]
    pub job: Option<String>,
    /// Only fires older than the fire of this id.
    #[serde(default)]
    pub before: Option<String>,
}

/// The jobs that a caller wants.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct JobListQuery {
    /// Only this agent, by name or id.
    #[serde(default)]
    pub agent: Option<String>,
    /// The `key` of the last job of the previous page.
    #[serde(default)]
    pub after: Option<String>,
}

pub(super) fn armed_view(
    agent: AgentId,
    arm: &ArmRequest,
    schedule_id: ScheduleId,
) -> ArmedJobView {
    let due = seconds(arm.fire_at.instant());
    ArmedJobView { agent_id: agent, job: arm.job.to_string(), schedule_id, due }
}

/// Returns all members of a job.
pub(super) fn job_json(found: &ScheduledJob, content: TextAccess) -> Value {
    let ScheduledJob { id, agent, arming, arm, flagged_at, last, .. } = found;
    let mut all = serde_json::to_value(JobView::from(found)).unwrap_or_default();
    let (to, words) = match &arm.to {
        Target::Callback(url) => (url.as_str(), None),
        Target::Inbox(words) => ("its inbox", Some(words).filter(|_| content == TextAccess::Shown)),
    };
    all["agent_id"] = json!(agent);
    all["schedule_id"] = json!(id);
    all["arming"] = json!(arming);
    all["told_at"] = json!(to);
    all["words"] = json!(words);
    all["recurring"] = json!(arm.recurring);
    all["reports"] = json!(arm.reports);
    all["overlap"] = json!(arm.policies.overlap.slug());
    all["catch_up_seconds"] = json!(arm.policies.catch_up.as_secs());
    all["jitter_seconds"] = json!(arm.policies.jitter.as_secs());
    all["should_be_armed_since"] = json!(flagged_at.map(seconds));
    all["last"] = json!(last.as_ref().map(FireView::from));
    all
}
