//! Notice: what the owner of an agent is told.

use nightdesk_types::limits::WAKE_DEADLINE;
use nightdesk_types::{AgentId, Timestamp};

/// What the owner of an agent is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// When.
    pub at: Timestamp,
    /// About which agent.
    pub agent: AgentId,
    /// What about it.
    pub kind: NoticeKind,
    /// How often it was called, or woken.
    pub calls: u32,
    /// What came of the last call.
    pub outcome: Option<String>,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The agent could not be woken in time.
    Unreachable,
    /// The agent was woken too often, and is called again when the hour is over.
    Held,
}

impl NoticeKind {
    /// Every kind there is.
    pub const ALL: [Self; 2] = [Self::Unreachable, Self::Held];

    /// Its name in rows and for programs.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Held => "held",
        }
    }
}

impl Notice {
    /// What a person reads, and what to do about it.
    pub fn text(&self) -> String {
        let Self { calls, outcome, .. } = self;
        let last = outcome.as_deref().unwrap_or("nothing is known of it");
        match self.kind {
            NoticeKind::Unreachable if *calls == 0 => format!(
                "could not be woken for {} hours: nobody can be called for it; set a URL with \
                 `nightdesk agent wake-url`, or start it by hand",
                WAKE_DEADLINE.as_secs() / 3_600
            ),
            NoticeKind::Unreachable => format!(
                "could not be woken for {} hours, by {calls} calls; the last one: {last}; \
                 `nightdesk verify --wake` shows what to mend",
                WAKE_DEADLINE.as_secs() / 3_600
            ),
            NoticeKind::Held => format!(
                "was woken {calls} times within an hour and is not called again before it is over; \
                 let it stay up longer, or raise wake.per_hour"
            ),
        }
    }
}
