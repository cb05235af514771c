//! Notices to the owner of an agent or of a bot.

use nightdesk_types::limits::WAKE_DEADLINE;
use nightdesk_types::{AgentId, BotId, Timestamp};

/// The subject of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeSubject {
    /// An agent.
    Agent(AgentId),
    /// A bot.
    Bot(BotId),
}

/// A notice to an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerNotice {
    /// The time.
    pub at: Timestamp,
    /// The subject.
    pub about: NoticeSubject,
    /// The kind.
    pub kind: NoticeKind,
    /// The number of calls, wakes or tries of a fire.
    pub calls: u32,
    /// The outcome of the last call; for a bot, the reason why it is deaf or the events that may be lost; for a job,
    /// its name and the cause of the miss.
    pub outcome: Option<String>,
}

/// The kind of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The agent could not be woken in time.
    Unreachable,
    /// The agent was woken too often, and is called again when the hour is over.
    Held,
    /// The bot receives no events.
    Deaf,
    /// The bot received no events for longer than its platform stores them.
    Missed,
    /// The bot started so many sessions on its platform that it will soon reach the platform's limit.
    Sessions,
    /// The agent did not get a fire of a job.
    FireMissed,
    /// A recurring job is not armed any more.
    Unarmed,
}

nightdesk_types::slugs! {
    NoticeKind:
    Unreachable = "unreachable",
    Held = "held",
    Deaf = "deaf",
    Missed = "missed",
    Sessions = "sessions",
    FireMissed = "fire-missed",
    Unarmed = "unarmed",
}

impl OwnerNotice {
    /// Returns the text for a person, with the step to take.
    pub fn text(&self) -> String {
        let Self { calls, outcome, .. } = self;
        let last = outcome.as_deref().unwrap_or("no details are known");
        match self.kind {
            NoticeKind::Unreachable if *calls == 0 => format!(
                "could not be woken for {} hours: it has no wake URL; set one with \
                 `nightdesk agent wake-url`, or start it by hand",
                WAKE_DEADLINE.as_secs() / 3_600
            ),
            NoticeKind::Unreachable => format!(
                "could not be woken for {} hours, by {calls} calls; the last one: {last}; \
                 `nightdesk verify --wake` shows what to fix",
                WAKE_DEADLINE.as_secs() / 3_600
            ),
            NoticeKind::Held => format!(
                "was woken {calls} times within an hour and is not called again until it is over; \
                 let it stay up longer, or raise wake.per_hour"
            ),
            NoticeKind::Deaf => {
                format!("receives no events: {last}; `nightdesk bot check` shows what to fix")
            }
            NoticeKind::Missed => {
                format!("receives events again, but some may be lost: {last}")
            }
            NoticeKind::Sessions => format!(
                "{last}; its platform limits them, and over the limit it receives no events until the \
                 next day; check that no other program uses its token"
            ),
            NoticeKind::FireMissed => format!(
                "did not receive a job: {last}; check that it answers at its callback, then have it arm \
                 the job again"
            ),
            NoticeKind::Unarmed => format!(
                "did not arm a recurring job again: {last}; start it, have it check its jobs, or \
                 cancel this one"
            ),
        }
    }
}
