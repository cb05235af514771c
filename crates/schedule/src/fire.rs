//! Fires: one instant of a job, and how it went.

use nightdesk_types::{AgentId, Arming, FireId, TenantScope, Timestamp};

use crate::job::{FireAt, JobId, Target};

/// A fire that somebody took to tell the agent of, and nobody else will for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Whose agent it is.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The job.
    pub job: JobId,
    /// The same in every try.
    pub fire: FireId,
    /// When it was due.
    pub fire_at: FireAt,
    /// Where the agent is told.
    pub to: Target,
    /// Tries, with this one.
    pub tries: u32,
    /// What came of the last one.
    pub outcome: Option<String>,
}

/// How a fire ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The agent took it.
    Taken,
    /// It was not told, and never will be.
    Missed(Cause),
}

/// Why an agent did not take a fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The run before was not over.
    Overlap,
    /// It was cancelled while it was tried.
    Cancelled,
    /// The job was armed anew while it was tried.
    Superseded,
    /// The desk came to it too late.
    TooLate,
    /// The agent could not be reached in time.
    GaveUp,
    /// The agent said that it does not want it.
    Refused,
}

impl Cause {
    /// Every one there is.
    pub const ALL: [Self; 6] = [
        Self::Overlap,
        Self::Cancelled,
        Self::Superseded,
        Self::TooLate,
        Self::GaveUp,
        Self::Refused,
    ];

    /// Its name in rows and for programs.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Overlap => "overlap",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
            Self::TooLate => "too-late",
            Self::GaveUp => "gave-up",
            Self::Refused => "refused",
        }
    }

    /// The one of this name.
    pub fn named(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.slug() == slug)
    }

    /// How it stands with a fire that was not taken because of this.
    pub const fn state(self) -> FireState {
        match self {
            Self::Overlap | Self::Cancelled | Self::Superseded => FireState::Skipped,
            Self::TooLate | Self::GaveUp | Self::Refused => FireState::Missed,
        }
    }
}

/// How it stands with a fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FireState {
    /// The agent is being told.
    Open,
    /// It waits for the end of the run before.
    Held,
    /// The agent took it in time.
    Fired,
    /// The agent took it, but late.
    Late,
    /// It was left out on purpose.
    Skipped,
    /// It was not taken, and somebody is told.
    Missed,
}

impl FireState {
    /// Every one there is.
    pub const ALL: [Self; 6] =
        [Self::Open, Self::Held, Self::Fired, Self::Late, Self::Skipped, Self::Missed];

    /// Its name in rows and for programs.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Held => "held",
            Self::Fired => "fired",
            Self::Late => "late",
            Self::Skipped => "skipped",
            Self::Missed => "missed",
        }
    }

    /// The one of this name.
    pub fn named(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.slug() == slug)
    }
}

/// A fire as its row tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fire {
    /// Its id.
    pub id: FireId,
    /// Whose it is.
    pub agent: AgentId,
    /// Of which job.
    pub job: JobId,
    /// Of which arming of it.
    pub arming: Arming,
    /// When it was due.
    pub fire_at: FireAt,
    /// How it stands.
    pub state: FireState,
    /// Why it was not taken.
    pub cause: Option<Cause>,
    /// How often it was tried.
    pub tries: u32,
    /// What came of the last try.
    pub outcome: Option<String>,
    /// When the desk came to it first.
    pub began_at: Timestamp,
    /// When it was taken, left out or missed.
    pub ended_at: Option<Timestamp>,
    /// When its run was over, and what the agent said of it.
    pub run: Option<(Timestamp, bool, Option<String>)>,
}

impl Fire {
    /// The text of the notice by which the owner of the agent learns of a missed fire.
    pub fn missed_notice(&self) -> String {
        let Self { job, fire_at, cause, outcome, .. } = self;
        let cause = cause.map_or("", Cause::slug);
        let last = outcome.as_ref().map(|outcome| format!(" ({outcome})")).unwrap_or_default();
        format!("{job}, due {}: {cause}{last}", fire_at.as_str())
    }
}
