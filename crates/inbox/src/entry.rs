//! Entry: an event held in an inbox.

use std::sync::Arc;

use nightdesk_protocol::EntryJson;
use nightdesk_types::{AgentId, BotId, EntryId, Generation, Seq, TenantScope, Timestamp};

/// An event held in an inbox, as it goes out on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub seq: Seq,
    /// When it was taken. It never goes back for an agent.
    pub at: Timestamp,
    /// The bot that heard it.
    pub bot: BotId,
    /// The chat it came from.
    pub chat_id: String,
    /// Its wire form. None: what is stored cannot be sent.
    pub json: Option<Arc<EntryJson>>,
}

impl Entry {
    /// Its name on the wire.
    pub const fn id(&self, agent: AgentId) -> EntryId {
        EntryId { agent, seq: self.seq }
    }
}

/// The right of the newest line to speak for its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineClaim {
    /// For whom.
    pub scope: TenantScope,
    /// Which agent.
    pub agent: AgentId,
    /// The line's number. A later one replaces it.
    pub generation: Generation,
}

/// One entry an event became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Whose entry it is.
    pub scope: TenantScope,
    /// Whose inbox it is in.
    pub agent: AgentId,
    /// Its number there.
    pub seq: Seq,
    /// When it was taken.
    pub at: Timestamp,
    /// Whether it was set aside at once: the inbox is full, or no client could take it.
    pub parked: bool,
    /// Whether its agent was up when it was stored.
    pub presence: Presence,
}

/// Whether an agent is up, as the store saw it when it held an entry for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It has a line, or nothing was held for it.
    Awake,
    /// It has none, and is going to be called.
    Asleep,
    /// It has none, and was woken too often to be called at once.
    Held,
}

/// Why an entry was set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParkReason {
    /// No client could take its frame.
    Unsendable,
    /// It was handed over as often as we try.
    Tries,
    /// Its inbox was full.
    Full,
    /// Nobody took it for as long as we keep things.
    Expired,
    /// A person said so.
    Operator,
}

impl ParkReason {
    /// Every reason there is.
    pub const ALL: [Self; 5] =
        [Self::Unsendable, Self::Tries, Self::Full, Self::Expired, Self::Operator];

    /// Its name in rows and on pages.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Unsendable => "unsendable",
            Self::Tries => "tries",
            Self::Full => "full",
            Self::Expired => "expired",
            Self::Operator => "operator",
        }
    }
}
