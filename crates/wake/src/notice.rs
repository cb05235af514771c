//! Notice: what the owner of an agent or of a bot is told.

use nightdesk_types::limits::WAKE_DEADLINE;
use nightdesk_types::{AgentId, BotId, Timestamp};

/// Whom a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// An agent.
    Agent(AgentId),
    /// A bot.
    Bot(BotId),
}

/// What an owner is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// When.
    pub at: Timestamp,
    /// About whom.
    pub about: About,
    /// What about it.
    pub kind: NoticeKind,
    /// How often an agent was called, or woken, or told of a fire.
    pub calls: u32,
    /// What came of the last call; of a bot, why it is deaf, or what may be lost; of a job, which one,
    /// and why it was missed.
    pub outcome: Option<String>,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The agent could not be woken in time.
    Unreachable,
    /// The agent was woken too often, and is called again when the hour is over.
    Held,
    /// Nothing that is said to the bot is heard.
    Deaf,
    /// Nothing was heard for longer than the bot's platform keeps it.
    Missed,
    /// The bot began anew on its platform so often that it will soon not be let.
    Sessions,
    /// The agent was not told of an instant of a job.
    FireMissed,
    /// A recurring job is not armed any more.
    Unarmed,
}

impl NoticeKind {
    /// Every kind there is.
    pub const ALL: [Self; 7] = [
        Self::Unreachable,
        Self::Held,
        Self::Deaf,
        Self::Missed,
        Self::Sessions,
        Self::FireMissed,
        Self::Unarmed,
    ];

    /// Its name in rows and for programs.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Held => "held",
            Self::Deaf => "deaf",
            Self::Missed => "missed",
            Self::Sessions => "sessions",
            Self::FireMissed => "fire-missed",
            Self::Unarmed => "unarmed",
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
            NoticeKind::Deaf => {
                format!("is deaf: {last}; `nightdesk bot check` shows what to mend")
            }
            NoticeKind::Missed => {
                format!("hears again, and something may be lost: {last}")
            }
            NoticeKind::Sessions => format!(
                "{last}; its platform lets it begin no more than so many, and then it is deaf until the                  next day; is something else using its token?"
            ),
            NoticeKind::FireMissed => format!(
                "was not told of a job: {last}; see that it answers at its callback, then have it arm \
                 the job again"
            ),
            NoticeKind::Unarmed => format!(
                "did not arm a recurring job again: {last}; start it or have it look at its jobs, or \
                 cancel this one"
            ),
        }
    }
}
