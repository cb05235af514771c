//! An event stored in an inbox.

use std::sync::Arc;

use nightdesk_protocol::EntryJson;
use nightdesk_types::{
    AgentId, BotId, EntryId, Generation, Incarnation, Seq, TenantScope, Timestamp,
};

/// An event stored in an inbox, as it goes out on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub seq: Seq,
    /// The history in which it was accepted.
    pub incarnation: Incarnation,
    /// The time when it was accepted, which never decreases within an agent's inbox.
    pub at: Timestamp,
    /// The bot that received it.
    pub bot: BotId,
    /// The chat it came from.
    pub chat_id: String,
    /// Its wire form, or the reason for which its line parks it.
    pub json: Result<Arc<EntryJson>, ParkReason>,
}

impl Entry {
    /// Returns its id on the wire.
    pub const fn id(&self, agent: AgentId) -> EntryId {
        EntryId { agent, incarnation: self.incarnation, seq: self.seq }
    }
}

/// The claim of the newest line to act for its agent. It ends with the history in which the line began: a rolled back
/// store gives out the same line numbers again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineClaim {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The history in which the line began.
    pub incarnation: Incarnation,
    /// The line's number. A later one replaces it.
    pub generation: Generation,
}

/// One entry that was stored for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// The tenant of the entry.
    pub scope: TenantScope,
    /// The agent that owns the inbox.
    pub agent: AgentId,
    /// Its number there.
    pub seq: Seq,
    /// The time when it was accepted.
    pub at: Timestamp,
    /// True if it was parked at once: the inbox is full, no client could take it, or its author writes far too fast.
    pub parked: bool,
    /// The state of its agent when the entry was stored.
    pub presence: AgentPresence,
    /// The history in which it was accepted.
    pub incarnation: Incarnation,
    /// The number of the agent's newest line when the entry was stored.
    pub generation: Generation,
}

/// The state of an agent as the store saw it when it stored an entry for the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentPresence {
    /// The agent has a line, or the entry does not wake it.
    Awake,
    /// The agent has no line, and the desk will call it.
    Asleep,
    /// The agent has no line, and was woken too often to be called at once.
    Held,
}

/// The reason why an entry is parked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParkReason {
    /// No client could take its frame.
    Unsendable,
    /// It was delivered [`TRIES_MAX`](nightdesk_types::limits::TRIES_MAX) times without an ack.
    Tries,
    /// Its inbox was full.
    Full,
    /// Its author was over ten times the rate limit.
    RateLimit,
    /// The agent did not take it within the retention time.
    Expired,
    /// Its stored body does not open: it was changed, moved to another row, or its key is gone.
    Unreadable,
    /// The operator parked it.
    Operator,
    /// A person or an agent stopped its chat while its agent slept.
    Stopped,
}

impl ParkReason {
    /// Returns true if entries with this reason are discarded before all others when an agent has more parked entries
    /// than its quota. One author alone can cause any number of them.
    pub const fn is_discarded_first(self) -> bool {
        match self {
            Self::RateLimit => true,
            Self::Unsendable
            | Self::Tries
            | Self::Full
            | Self::Expired
            | Self::Operator
            | Self::Stopped
            | Self::Unreadable => false,
        }
    }
}

nightdesk_types::slugs! {
    ParkReason:
    Unsendable = "unsendable",
    Tries = "tries",
    Full = "full",
    RateLimit = "rate-limit",
    Expired = "expired",
    Unreadable = "unreadable",
    Operator = "operator",
    Stopped = "stopped",
}
