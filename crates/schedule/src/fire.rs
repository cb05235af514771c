//! Fires: one instant of a job, and its result.

use nightdesk_types::{AgentId, Arming, FireId, TenantScope, Timestamp};

use crate::job::{FireAt, JobId, Target};

/// A fire that a node claimed. No other node calls the agent until the claim expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FireClaim {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The job.
    pub job: JobId,
    /// The fire's id, the same in every try.
    pub fire: FireId,
    /// The instant at which it was due.
    pub fire_at: FireAt,
    /// The destination of the fire.
    pub to: Target,
    /// The number of tries, including this one.
    pub tries: u32,
    /// The outcome of the last try.
    pub outcome: Option<String>,
}

/// The end of a fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FireEnd {
    /// The agent took it.
    Taken,
    /// The agent did not take it, and the desk does not try again.
    Missed(FireCause),
}

/// The end of a fire, and the outcome of its last try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FireEnding {
    /// The fire, as this node claimed it.
    pub claimed: FireClaim,
    /// The end.
    pub end: FireEnd,
    /// The outcome of the last try.
    pub outcome: String,
}

/// The reason why an agent did not take a fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FireCause {
    /// The run before was not over.
    Overlap,
    /// The job was cancelled while the fire was open.
    Cancelled,
    /// The job was armed anew while the fire was open.
    Superseded,
    /// The desk claimed it too late.
    TooLate,
    /// The agent could not be reached in time.
    GaveUp,
    /// The agent refused it.
    Refused,
}

nightdesk_types::slugs! {
    FireCause:
    Overlap = "overlap",
    Cancelled = "cancelled",
    Superseded = "superseded",
    TooLate = "too-late",
    GaveUp = "gave-up",
    Refused = "refused",
}

impl FireCause {
    /// Returns the state of a fire that was not taken because of this.
    pub const fn state(self) -> FireState {
        match self {
            Self::Overlap | Self::Cancelled | Self::Superseded => FireState::Skipped,
            Self::TooLate | Self::GaveUp | Self::Refused => FireState::Missed,
        }
    }
}

/// The state of a fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FireState {
    /// The desk tries to deliver it to the agent.
    Open,
    /// It waits for the end of the run before.
    Held,
    /// The agent took it in time.
    Fired,
    /// The agent took it, but late.
    Late,
    /// It was skipped on purpose.
    Skipped,
    /// The agent did not take it, and its owner gets a notice.
    Missed,
}

nightdesk_types::slugs! {
    FireState:
    Open = "open",
    Held = "held",
    Fired = "fired",
    Late = "late",
    Skipped = "skipped",
    Missed = "missed",
}

/// The row of a fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fire {
    /// The id.
    pub id: FireId,
    /// The agent.
    pub agent: AgentId,
    /// The job.
    pub job: JobId,
    /// The arming of the job.
    pub arming: Arming,
    /// The instant at which it was due.
    pub fire_at: FireAt,
    /// The state.
    pub state: FireState,
    /// The reason why the agent did not take it.
    pub cause: Option<FireCause>,
    /// The number of tries.
    pub tries: u32,
    /// The outcome of the last try.
    pub outcome: Option<String>,
    /// The time of the first claim.
    pub began_at: Timestamp,
    /// The time at which it was taken, skipped or missed.
    pub ended_at: Option<Timestamp>,
    /// The end of its run, the run's success, and the agent's note.
    pub run: Option<(Timestamp, bool, Option<String>)>,
}

impl Fire {
    /// Returns the text of the notice about a missed fire for the owner of the agent.
    pub fn missed_notice(&self) -> String {
        let Self { job, fire_at, cause, outcome, .. } = self;
        let cause = cause.map_or("", FireCause::slug);
        let last = outcome.as_ref().map(|outcome| format!(" ({outcome})")).unwrap_or_default();
        format!("{job}, due {}: {cause}{last}", fire_at.as_str())
    }
}
